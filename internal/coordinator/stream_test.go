// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/coordinator"
	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/testing/bubble"
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
	bubble.Run(t, func(t *testing.T) {
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
	bubble.Run(t, func(t *testing.T) {
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
	bubble.Run(t, func(t *testing.T) {
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
	bubble.Run(t, func(t *testing.T) {
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
	bubble.Run(t, func(t *testing.T) {
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
	bubble.Run(t, func(t *testing.T) {
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
	for i := range 50 { // each with other moments of a second
		bubble.Run(t, func(t *testing.T) { followsTheLeader(t, time.Duration(i)*20*time.Millisecond) })
	}
}

func followsTheLeader(t *testing.T, moment time.Duration) {
	t.Helper()
	w, a := running(t)
	b := w.start("b", coordinator.Bounds{}, nil)
	defer a.kill()
	defer b.kill()
	b.setPlan(testPlan("ns", 1))
	pod := w.pod("ns", "a", nil)
	defer w.join(pod).leave()
	eventually(t, 2*time.Second, "at the first", func() bool { return len(a.Reporting("ns")) == 1 })
	time.Sleep(moment)
	w.lead("b")
	eventually(t, 200*time.Millisecond+wire.ReportInterval*11/10, "at the second", func() bool { return len(b.Reporting("ns")) == 1 })
	if n := len(a.Reporting("ns")); n != 0 {
		t.Errorf("%d still count for the one that abdicated", n)
	}
}
