// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/headgate-dev/headgate/internal/coordinator"
	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/wire"
)

// running is a world with one leading replica that has led for longer than it learns.
func running(t *testing.T) (*world, *replica) {
	t.Helper()
	w := newWorld(t)
	r := w.start("a", coordinator.Bounds{}, nil)
	w.lead("a")
	r.setPlan(testPlan("ns", 1))
	time.Sleep(15 * time.Second)
	return w, r
}

func TestPlanEditIsPushedAndAcknowledgedWithinTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, r := running(t)
		defer r.kill()
		pod := w.pod("ns", "a", nil)
		g := w.join(pod)
		defer g.leave()
		eventually(t, 2*time.Second, "the first plan", func() bool { return r.Acknowledged("ns")[pod].Revision == 1 })
		r.TakeChanged()
		r.setPlan(testPlan("ns", 2))
		took := eventually(t, 2*time.Second, "the edit", func() bool { return r.Acknowledged("ns")[pod].Revision == 2 })
		t.Logf("pushed and acknowledged in %v", took)
		<-r.Changed()
		if got := r.TakeChanged(); len(got) != 1 || got[0] != "ns" {
			t.Errorf("changed: %v", got)
		}
	})
}

func TestARejectedPlanIsReportedWithItsRevision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, r := running(t)
		defer r.kill()
		pod := w.pod("ns", "a", nil)
		g := w.join(pod)
		defer g.leave()
		eventually(t, 2*time.Second, "the first plan", func() bool { return g.Revision() == 1 })
		g.mu.Lock()
		g.rejects = true
		g.mu.Unlock()
		r.setPlan(testPlan("ns", 2))
		eventually(t, 2*time.Second, "the rejection", func() bool { return len(r.Rejections("ns")) == 1 })
		got := r.Rejections("ns")[0]
		if got.Pod != "a" || got.Revision != 2 || got.Message != errNotRunnable.Error() {
			t.Errorf("rejection %+v", got)
		}
	})
}

// E1: a steady state changes nothing, whatever is reported.
func TestE1ReportsAloneChangeNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, r := running(t)
		defer r.kill()
		g := w.join(w.pod("ns", "a", nil), func(g *gateway) {
			g.routes = []*wire.RouteReport{{Policy: "support", Provider: "anthropic", Sends: 5}}
		})
		defer g.leave()
		time.Sleep(10 * time.Second)
		r.TakeChanged()
		select {
		case <-r.Changed():
		default:
		}
		time.Sleep(10 * time.Minute)
		select {
		case <-r.Changed():
			t.Errorf("changed: %v", r.TakeChanged())
		default:
		}
		if f := r.Policy("ns", "support", time.Now()); len(f.Gateways) != 1 {
			t.Errorf("%d gateways report, want 1", len(f.Gateways))
		}
	})
}

func TestReportsBecomeFigures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, r := running(t)
		defer r.kill()
		g := w.join(w.pod("ns", "a", nil), func(g *gateway) {
			g.routes = []*wire.RouteReport{{
				Policy: "support", Provider: "anthropic", Generation: 1, Calls: 9, Sends: 12, TooManyRequests: 3,
				Limits: []*wire.LimitReport{{Name: "tokens", Spent: 500, Level: 70}, {Name: "invented", Spent: 1}},
				Lanes:  []*wire.LaneReport{{Name: "default", Sent: 9}, {Name: "invented", Sent: 1}},
			}}
		})
		defer g.leave()
		time.Sleep(3 * time.Second)
		f := r.Policy("ns", "support", time.Now())
		if len(f.Gateways) != 1 || f.Gateways[0].Contract != "1" {
			t.Errorf("gateways %+v", f.Gateways)
		}
		if len(f.Providers) != 1 || f.Providers[0].TooManyRequests != 3 || f.Providers[0].Sends != 12 {
			t.Errorf("providers %+v", f.Providers)
		}
		if len(f.Limits) != 1 || f.Limits[0].Used.Recent() != 500 || f.Limits[0].Remaining != 70 {
			t.Errorf("limits %+v", f.Limits)
		}
		if len(f.Lanes) != 1 || f.Lanes[0].Sent != 9 {
			t.Errorf("lanes %+v", f.Lanes)
		}
	})
}

func TestAnotherNamespacesPolicyIsIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, r := running(t)
		defer r.kill()
		other := testPlan("other", 1)
		other.Policies[0].Name = "theirs"
		r.setPlan(other)
		g := w.join(w.pod("ns", "a", nil), func(g *gateway) {
			g.routes = []*wire.RouteReport{
				{Policy: "theirs", Provider: "anthropic", Sends: 99},
				{Policy: "support", Provider: "anthropic", Sends: 1},
			}
		})
		defer g.leave()
		time.Sleep(3 * time.Second)
		for _, ns := range []string{"ns", "other"} {
			if f := r.Policy(ns, "theirs", time.Now()); len(f.Providers) != 0 {
				t.Errorf("in %s the other's policy has figures: %+v", ns, f)
			}
		}
		if f := r.Policy("ns", "support", time.Now()); len(f.Providers) != 1 || f.Providers[0].Sends != 1 {
			t.Errorf("its own policy has %+v", f.Providers)
		}
	})
}

func TestNonLeadersSendGatewaysToTheLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		leader, other := w.start("a", coordinator.Bounds{}, nil), w.start("b", coordinator.Bounds{}, nil)
		defer leader.kill()
		defer other.kill()
		w.lead("a")
		leader.setPlan(testPlan("ns", 1))
		var pods []figures.Pod
		for i := range 8 { // the Service picks a replica at random
			pods = append(pods, w.pod("ns", name(i), nil))
			defer w.join(pods[i]).leave()
		}
		eventually(t, 5*time.Second, "all at the leader", func() bool { return len(leader.Reporting("ns")) == len(pods) })
		if n := len(other.Reporting("ns")); n != 0 {
			t.Errorf("%d report to a replica that does not lead", n)
		}
	})
}

// An abdicating leader sends its gateways on at once: within two ticks, and with no stream wasted, also when a
// report is on its way at that moment, and when the connection to a replica that does not lead ends before
// anything was said.
func TestGatewaysFollowTheLeader(t *testing.T) {
	for range 50 { // each with other moments
		synctest.Test(t, followsTheLeader)
	}
}

func followsTheLeader(t *testing.T) {
	w, a := running(t)
	b := w.start("b", coordinator.Bounds{}, nil)
	defer a.kill()
	defer b.kill()
	b.setPlan(testPlan("ns", 1))
	pod := w.pod("ns", "a", nil)
	defer w.join(pod).leave()
	eventually(t, 2*time.Second, "at the first", func() bool { return len(a.Reporting("ns")) == 1 })
	time.Sleep(rand.N(time.Second))
	w.lead("b")
	eventually(t, 200*time.Millisecond+wire.ReportInterval*11/10, "at the second", func() bool { return len(b.Reporting("ns")) == 1 })
	if n := len(a.Reporting("ns")); n != 0 {
		t.Errorf("%d still count for the one that abdicated", n)
	}
}

// C11: a gateway keeps its share for its time and no longer, and gets it back without a burst.
//
// Fault C11: When the control plane was gone, proxies failed calls, or let everything through.
// Headgate: A gateway keeps what it was given for its time, then a share that is safe for all, and gets its share back
// without a burst; no call fails for it.
func TestC11CoordinatorDownAndBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, a := running(t)
		g := w.join(w.pod("ns", "a", nil))
		defer g.leave()
		eventually(t, 5*time.Second, "the whole limit", func() bool { return g.rate(tokensLimit) == 100 })
		time.Sleep(5 * time.Second)
		died := time.Now()
		a.kill()
		time.Sleep(wire.ShareTTL - 1500*time.Millisecond)
		if got := g.rate(tokensLimit); got != 100 {
			t.Errorf("before the share's end its rate is %v", got)
		}
		time.Sleep(2 * time.Second)
		if g.rate(tokensLimit) != 0 || g.safeAt.Sub(died) > wire.ShareTTL {
			t.Errorf("on the safe share %v after the death", g.safeAt.Sub(died))
		}
		time.Sleep(time.Minute)
		a = w.start("a", coordinator.Bounds{}, nil)
		defer func() { a.kill() }()
		w.lead("a")
		a.setPlan(testPlan("ns", 1))
		back := eventually(t, time.Minute, "the share again", func() bool { return g.rate(tokensLimit) == 100 })
		if back < wire.ShareTTL {
			t.Errorf("a new leader gave a share after %v, when another gateway might still hold one", back)
		}
		t.Logf("the share was back after %v", back)
	})
}

// C11: while the API server is down, what is connected stays so; what comes new stays on its safe share.
func TestC11APIServerDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, a := running(t)
		defer a.kill()
		g := w.join(w.pod("ns", "a", nil))
		defer g.leave()
		eventually(t, 5*time.Second, "the whole limit", func() bool { return g.rate(tokensLimit) == 100 })
		w.mu.Lock()
		w.down = true
		w.mu.Unlock()
		h := w.join(w.pod("ns", "b", nil))
		defer h.leave()
		time.Sleep(time.Minute)
		if g.rate(tokensLimit) != 100 || h.Connected() || h.rate(tokensLimit) != 0 {
			t.Errorf("rates %v and %v", g.rate(tokensLimit), h.rate(tokensLimit))
		}
		w.mu.Lock()
		w.down = false
		w.mu.Unlock()
		eventually(t, 30*time.Second, "half each", func() bool { return g.rate(tokensLimit) == 50 && h.rate(tokensLimit) == 50 })
	})
}

// possibleExcess is the metric's value by limit.
func possibleExcess(t *testing.T, s *coordinator.Server) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(s)
	families, err := registry.Gather()
	must(t, err)
	out := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "headgate_limit_possible_excess" {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "limit" {
					out[l.GetValue()] = m.GetGauge().GetValue()
				}
			}
		}
	}
	return out
}

func TestThePossibleExcessOfSharesIsAMetric(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, a := running(t)
		defer a.kill()
		p := testPlan("ns", 2)
		p.Policies[0].Routes[0].Lanes[0].LargestCallTokens = 4000
		a.setPlan(p)
		g, h := w.join(w.pod("ns", "a", nil)), w.join(w.pod("ns", "b", nil))
		defer g.leave()
		defer h.leave()
		eventually(t, 5*time.Second, "half each", func() bool { return g.rate(tokensLimit) == 50 && h.rate(tokensLimit) == 50 })
		got := g.share(tokensLimit)
		if got.GetCapacity() != 4000 {
			t.Errorf("share %v", got)
		}
		if excess := possibleExcess(t, a.Server); excess["tokens"] != 2000 || excess["in-flight"] != 0 || len(excess) != 2 {
			t.Errorf("possible excess %v", excess)
		}
		if slots := g.share("support/anthropic/in-flight").GetCapacity(); slots != 5 {
			t.Errorf("slots %v", slots)
		}
	})
}

// The largest call that was seen can pass again, if no lane declares one.
func TestCapacityLearnsTheLargestCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, a := running(t)
		defer a.kill()
		g := w.join(w.pod("ns", "a", nil), func(g *gateway) {
			g.routes = []*wire.RouteReport{{Policy: "support", Provider: "anthropic", TooLarge: 1, LargestTooLarge: 5000}}
		})
		h := w.join(w.pod("ns", "b", nil), func(g *gateway) {
			g.routes = []*wire.RouteReport{{Policy: "support", Provider: "anthropic", Lanes: []*wire.LaneReport{{Name: "default", LargestCallTokens: math.NaN()}}}}
		})
		defer g.leave()
		defer h.leave()
		eventually(t, 5*time.Second, "a larger bucket", func() bool { return h.share(tokensLimit).GetCapacity() == 5000 })
	})
}
