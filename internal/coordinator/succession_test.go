// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/coordinator"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/testing/bubble"
)

// handover ends the leading replica, in order or not, and has another lead after a while; it returns what of the rate was used
// in the ten seconds from then on.
func handover(t *testing.T, end func(*replica)) (used float64, last ledger.State) {
	t.Helper()
	o := newOutage(t, 5)
	b := o.start("b", coordinator.Bounds{}, nil)
	b.setPlan(drawPlan("ns", 1))
	defer b.kill()
	used = o.p.over(func() {
		o.mu.Lock()
		o.leader, o.first = "", false
		o.mu.Unlock()
		end(o.a)
		last, _, _ = o.shelf.Load(t.Context())
		time.Sleep(500 * time.Millisecond)
		o.lead("b")
		time.Sleep(9500 * time.Millisecond)
	})
	leaveDrawings(o.all)
	o.p.check(t)
	return used, last
}

// A leader that ends in order tells the next one exactly what is there, and its gateways wait at the one that is to lead: no more
// is lost than is refilled while nobody leads.
func TestALeaderThatEndsInOrderIsFollowedAtOnce(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		used, last := handover(t, (*replica).retire)
		if !last.Final || len(last.Pools) != 1 || !last.Pools[0].Named || len(last.Pools[0].Heirs) != 5*8 {
			t.Errorf("it left %+v", last)
		}
		if used < 0.9 {
			t.Errorf("%.3f of the rate were used while leaders changed", used)
		}
	})
}

// One that dies leaves its bounds, as ever.
func TestALeaderThatDiesLeavesItsBounds(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		used, last := handover(t, (*replica).kill)
		if last.Final || last.Epoch == 0 {
			t.Errorf("it left %+v", last)
		}
		t.Logf("%.3f of the rate were used", used)
	})
}

// A gateway that comes while nobody leads is served by the replica at which it waits, as soon as that leads.
func TestAGatewayWaitsWhereNobodyLeads(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.start("a", coordinator.Bounds{}, nil)
		defer a.kill()
		a.setPlan(drawPlan("ns", 1))
		p := newProvider()
		d := w.draw(w.pod("ns", name(0), nil), p, small(100))
		defer leaveDrawings([]*drawing{d})
		time.Sleep(7 * time.Second)
		w.lead("a")
		time.Sleep(500 * time.Millisecond)
		if !d.Leased() {
			t.Error("half a second after the replica began to lead its gateway was not served")
		}
	})
}
