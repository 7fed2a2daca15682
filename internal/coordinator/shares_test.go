// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/coordinator"
	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/wire"
)

// fleet watches what gateways act on together, at every change.
type fleet struct {
	mu       sync.Mutex
	gateways map[*gateway]bool
	// worst is the largest sum of shares seen, and of shares and safe shares.
	worst, worstWithSafe float64
}

// safe is the test policy's safe share: half of 100 a second for 10.
const safe = 100. / 2 / 10

func (f *fleet) look() {
	f.mu.Lock()
	defer f.mu.Unlock()
	var sum, withSafe float64
	for g := range f.gateways {
		rate := g.rate(tokensLimit)
		sum += rate
		if rate == 0 {
			rate = safe
		}
		withSafe += rate
	}
	f.worst, f.worstWithSafe = max(f.worst, sum), max(f.worstWithSafe, withSafe)
}

func (f *fleet) join(w *world, pod figures.Pod) *gateway {
	g := w.join(pod, func(g *gateway) { g.watch = f.look })
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gateways[g] = true
	return g
}

// leave ends a gateway, one by one or as a crash.
func (f *fleet) leave(g *gateway) {
	g.leave()
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.gateways, g)
}

func (f *fleet) settled(n int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for g := range f.gateways {
		if rate := g.rate(tokensLimit); rate < 100/float64(n)-1e-6 || rate > 100/float64(n)+1e-6 {
			return false
		}
	}
	return len(f.gateways) == n
}

func (f *fleet) check(t *testing.T) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	t.Logf("shares added up to at most %.2f of 100 a second, with safe shares to %.2f", f.worst, f.worstWithSafe)
	if f.worst > 100+1e-6 {
		t.Errorf("shares added up to %v of 100 a second", f.worst)
	}
}

// C10: 2 gateways become 10 and 2 again, with a rolling update and a crash loop; at no moment do they have
// more than the limit together.
func TestC10SharesNeverExceedTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, r := running(t)
		defer r.kill()
		f := &fleet{gateways: map[*gateway]bool{}}
		var all []*gateway
		for i := range 10 {
			all = append(all, f.join(w, w.pod("ns", name(i), nil)))
			time.Sleep(rand.N(2 * time.Second))
			f.look()
		}
		took := eventually(t, 10*time.Second, "a tenth each", func() bool { return f.settled(10) })
		t.Logf("a tenth each %v after the last came", took)
		for i := range 4 { // surge: the new one comes before the old one goes
			all = append(all, f.join(w, w.pod("ns", name(10+i), nil)))
			time.Sleep(3 * time.Second)
			f.leave(all[0])
			all = all[1:]
			f.look()
		}
		for range 5 { // the same pod's gateway starts again and again
			g := all[0]
			f.leave(g)
			all[0] = f.join(w, g.pod)
			time.Sleep(5 * time.Second)
			f.look()
		}
		for len(all) > 2 {
			f.leave(all[0])
			all = all[1:]
		}
		eventually(t, 5*time.Second, "half each", func() bool { return f.settled(2) })
		for _, g := range all {
			f.leave(g)
		}
		f.check(t)
	})
}

// C11, E10: when the leader dies or abdicates, nothing bursts: the next one lets gateways keep what they
// have until all shares of the last one have lapsed.
func TestANewLeaderCausesNoBurst(t *testing.T) {
	for how, crash := range map[string]bool{"crash": true, "abdication": false} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, a := running(t)
				b := w.start("b", coordinator.Bounds{}, nil)
				defer b.kill()
				b.setPlan(testPlan("ns", 1))
				f := &fleet{gateways: map[*gateway]bool{}}
				for i := range 5 {
					g := f.join(w, w.pod("ns", name(i), nil))
					defer f.leave(g)
				}
				eventually(t, 10*time.Second, "a fifth each", func() bool { return f.settled(5) })
				if crash {
					a.kill()
					time.Sleep(2 * time.Second)
				} else {
					defer a.kill()
				}
				w.lead("b")
				lost := time.Duration(0)
				for began := time.Now(); time.Since(began) < 30*time.Second; time.Sleep(100 * time.Millisecond) {
					f.look()
					if !f.settled(5) {
						lost += 100 * time.Millisecond
					}
				}
				t.Logf("not at full shares for %v", lost)
				if !f.settled(5) {
					t.Error("after the change not everyone has its part")
				}
				if !crash && lost > 0 {
					t.Errorf("a clean change cost shares for %v", lost)
				}
				f.check(t)
			})
		})
	}
}

// A manager that is the first ever to lead has no earlier leader's shares to wait out: gateways of a fresh
// installation get theirs at once. A later leader waits.
func TestTheFirstLeaderGivesSharesAtOnce(t *testing.T) {
	for which, first := range map[string]bool{"first": true, "later": false} {
		t.Run(which, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.first = first
				r := w.start("a", coordinator.Bounds{}, nil)
				defer r.kill()
				w.lead("a")
				r.setPlan(testPlan("ns", 1))
				f := &fleet{gateways: map[*gateway]bool{}}
				for i := range 2 {
					defer f.leave(f.join(w, w.pod("ns", name(i), nil)))
				}
				took := eventually(t, 30*time.Second, "half each", func() bool { return f.settled(2) })
				t.Logf("half each after %v", took)
				if first && took > 2*time.Second {
					t.Errorf("the first leader gave shares after %v", took)
				}
				if !first && took < wire.ShareTTL-2*time.Second {
					t.Errorf("a later leader gave shares after %v, within the time that others' may last", took)
				}
				f.check(t)
			})
		})
	}
}

// A lease that somebody deleted makes a leader look like the first. A gateway that holds another's share
// tells otherwise, and nobody grows until all such shares have lapsed.
func TestADeletedLeaseCausesNoBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, a := running(t)
		b := w.start("b", coordinator.Bounds{}, nil)
		defer b.kill()
		b.setPlan(testPlan("ns", 1))
		f := &fleet{gateways: map[*gateway]bool{}}
		for i := range 5 {
			defer f.leave(f.join(w, w.pod("ns", name(i), nil)))
		}
		eventually(t, 10*time.Second, "a fifth each", func() bool { return f.settled(5) })
		w.mu.Lock()
		w.first = true
		w.mu.Unlock()
		defer a.kill()
		w.lead("b")
		for began := time.Now(); time.Since(began) < 30*time.Second; time.Sleep(100 * time.Millisecond) {
			f.look()
		}
		if !f.settled(5) {
			t.Error("not everyone has its part")
		}
		f.check(t)
	})
}

// A gateway that is cut off keeps its share for the TTL; only then do the others grow, and they leave it
// its safe share while its pod lives.
func TestOthersGrowOnlyWhenASilentGatewaysShareHasLapsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, r := running(t)
		defer r.kill()
		f := &fleet{gateways: map[*gateway]bool{}}
		pod := w.pod("ns", "cut-off", nil)
		f.join(w, w.pod("ns", "a", nil))
		g := f.join(w, pod)
		eventually(t, 5*time.Second, "half each", func() bool { return f.settled(2) })
		blackhole(w, g)
		cut := time.Now()
		var other *gateway
		for h := range f.gateways {
			if h != g {
				other = h
			}
		}
		eventually(t, time.Minute, "the other to grow", func() bool { return other.rate(tokensLimit) == 95 })
		if took := time.Since(cut); took < wire.ShareTTL {
			t.Errorf("the other grew after %v", took)
		}
		if rate := g.rate(tokensLimit); rate != 0 {
			t.Errorf("the one cut off still acts on %v", rate)
		}
		f.check(t)
		if f.worstWithSafe > 100+1e-6 {
			t.Errorf("with its safe share all had %v", f.worstWithSafe)
		}
		w.mu.Lock()
		delete(w.pods, pod)
		w.mu.Unlock()
		eventually(t, 15*time.Second, "all, once the pod is gone", func() bool { return other.rate(tokensLimit) == 100 })
		g.leave()
		other.leave()
	})
}

// blackhole cuts a gateway off for good.
func blackhole(w *world, g *gateway) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.expelled = g.pod
	for _, r := range w.replicas {
		r.pipes.cutOne(g.pod)
	}
}

func TestADrainingGatewaysShareIsFreeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, r := running(t)
		defer r.kill()
		f := &fleet{gateways: map[*gateway]bool{}}
		a, b := f.join(w, w.pod("ns", "a", nil)), f.join(w, w.pod("ns", "b", nil))
		eventually(t, 5*time.Second, "half each", func() bool { return f.settled(2) })
		f.leave(a)
		eventually(t, 2*time.Second, "all for the other", func() bool { return f.settled(1) })
		f.leave(b)
		f.check(t)
	})
}

// The policy's selector decides who shares, by the pod's own labels.
func TestOnlyMatchingPodsShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, r := running(t)
		defer r.kill()
		p := testPlan("ns", 2)
		p.Policies[0].Selector = selector("app", "chat")
		r.setPlan(p)
		a := w.join(w.pod("ns", "a", map[string]string{"app": "chat"}))
		b := w.join(w.pod("ns", "b", map[string]string{"app": "batch"}))
		defer a.leave()
		defer b.leave()
		time.Sleep(5 * time.Second)
		if a.rate(tokensLimit) != 100 || b.share(tokensLimit) != nil {
			t.Errorf("shares %v and %v", a.share(tokensLimit), b.share(tokensLimit))
		}
	})
}

// What calls in flight have reserved is an amount, and what is divided of a bucket is a rate: a busy gateway gives
// up half of its rate at once, and of its slots those without a call.
func TestCallsInFlightHoldSlotsAndNoRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, r := running(t)
		defer r.kill()
		a := w.join(w.pod("ns", "a", nil), func(g *gateway) {
			g.routes = []*wire.RouteReport{{Policy: "support", Provider: "anthropic", Limits: []*wire.LimitReport{
				{Name: "tokens", Reserved: 5000}, {Name: "in-flight", Reserved: 8},
			}}}
		})
		defer a.leave()
		eventually(t, 5*time.Second, "all for the first", func() bool { return a.rate(tokensLimit) == 100 })
		b := w.join(w.pod("ns", "b", nil))
		defer b.leave()
		eventually(t, 5*time.Second, "half each", func() bool { return a.rate(tokensLimit) == 50 && b.rate(tokensLimit) == 50 })
		eventually(t, 5*time.Second, "the slots that are free", func() bool {
			return b.share("support/anthropic/in-flight").GetCapacity() == 2
		})
	})
}
