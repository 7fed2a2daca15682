// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/plan"
	_ "github.com/headgate-dev/headgate/internal/testing/seed"
)

// Whatever happens to messages, gateways and leaders, members together spend no more than was granted: in no interval more
// than the pool's burst and the rate, and what settlements owe; without a lease each may have collected for one large call
// beside. And no ticket is stuck.
func TestMembersSpendWhatIsGrantedUnderAnyNetwork(t *testing.T) {
	most := 0.0
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, rapid.Int64().Draw(t, "seed"), shared(rapid.SampledFrom([]string{"", plan.LastGrant}).Draw(t, "outage")), 5)
		w.loss = rapid.SampledFrom([]float64{0, 0, 0.1, 0.5}).Draw(t, "loss")
		w.twice = rapid.SampledFrom([]float64{0, 0.2}).Draw(t, "twice")
		w.delay = time.Duration(rapid.SampledFrom([]int{1, 30, 300, 3000}).Draw(t, "delay")) * time.Millisecond
		outages, large := rapid.Bool().Draw(t, "outages"), rapid.Bool().Draw(t, "large")
		for _, name := range []string{"a", "b", "c"} {
			w.join(name, true)
		}
		load, idle := 0.5+2*w.rand.Float64(), w.rand.Intn(600)
		for i := range 1200 {
			w.tick(50 * time.Millisecond)
			if i > idle {
				w.arrive(load, large)
			}
			w.happens(outages)
		}
		bound := (1-ledger.Guard)*burst + 1
		if outages || w.loss >= 0.5 || w.delay > time.Second {
			// Who has no lease may have collected for its first call.
			bound += 3 * 2000
			if large {
				bound += 3 * 8000
			}
		} else {
			most = max(most, w.worst/bound)
		}
		if w.worst > bound {
			t.Fatalf("%.0f were spent beyond the rate, at most %.0f may be; %v", w.worst, bound, w.members)
		}
		w.settles(t)
	})
	// A few histories need not come near it.
	if most < 0.7 && !testing.Short() {
		t.Errorf("at most %.2f of the bound was spent: it did not bite", most)
	}
}

// arrive brings calls: small ones of 60 to 1,000 tokens, and now and then one of 8,000.
func (w *world) arrive(load float64, large bool) {
	for range 3 {
		if w.rand.Float64() < load/27 {
			w.pick().ask(float64(50+w.rand.Intn(800))*1.2, 1, time.Duration(1+w.rand.Intn(30))*time.Second)
		}
	}
	if large && w.rand.Float64() < 0.01 {
		w.pick().ask(8_000, 0, time.Duration(10+w.rand.Intn(100))*time.Second)
	}
}

func (w *world) pick() *node { return w.members[w.rand.Intn(len(w.members))] }

// happens has something happen to the world.
func (w *world) happens(outages bool) {
	switch r := w.rand.Float64(); {
	case w.cut && r < 0.005:
		w.cut = false
	case outages && r < 0.001:
		w.cut = true
	case outages && r < 0.002:
		i := w.rand.Intn(len(w.members))
		name := w.members[i].name
		w.crash(i)
		w.join(name, false)
	case r > 0.999:
		w.lead()
	case r > 0.998:
		w.edit()
	case r > 0.98:
		w.leaves()
	}
}

// leaves has a caller give up, or its call be refused and tried again.
func (w *world) leaves() {
	n := w.pick()
	if len(n.waiting) == 0 {
		return
	}
	n.ReleaseAt(n.waiting[0], settlementNotSent, w.now)
	n.waiting = n.waiting[1:]
}

// edit changes lanes, and for a moment takes a limit away.
func (w *world) edit() {
	w.route = shared(w.route.Outage)
	switch w.rand.Intn(4) {
	case 0:
		w.route.Lanes = w.route.Lanes[1:]
		w.route.Lanes[0].SharePermille = 1000
	case 1:
		w.route.Limits = w.route.Limits[1:]
	case 2:
		w.route.Lanes[0].Name = "large"
	}
	if !w.pool.Apply(w.config(), w.now) {
		w.lead()
	}
	for _, n := range w.members {
		n.Configure(w.route, w.most, w.now)
		n.hear()
	}
}

// settles fails unless everything that waits is decided once the world is well, and nothing is held at rest.
func (w *world) settles(t *rapid.T) {
	w.cut, w.loss, w.twice, w.delay = false, 0, 0, 10*time.Millisecond
	for range 1500 {
		w.tick(100 * time.Millisecond)
	}
	for _, n := range w.members {
		if len(n.waiting) > 0 || n.Member.waiting != 0 || n.apart != 0 {
			t.Fatalf("stuck: %v, %d wait, %d aside", n, n.Member.waiting, n.apart)
		}
		if n.places.n != 0 {
			t.Fatalf("%v keeps %d places", n, n.places.n)
		}
		if !n.leased {
			t.Fatalf("%v has no lease", n)
		}
		for i := range n.lanes {
			for _, inUse := range n.lanes[i].inUse {
				if inUse != 0 {
					t.Fatalf("%v holds %v slots at rest", n, inUse)
				}
			}
			if len(n.lanes[i].large) > 0 || n.lanes[i].bytes != 0 {
				t.Fatalf("%v: lane %d keeps %d calls, %d bytes", n, i, len(n.lanes[i].large), n.lanes[i].bytes)
			}
		}
	}
}
