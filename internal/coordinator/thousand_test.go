// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/coordinator"
	"github.com/headgate-dev/headgate/internal/wire"
)

// patience is for what is waited for in real time, on machines that are many times too slow.
const patience = 5 * time.Minute

// A thousand gateways of one namespace, in waves: all are connected, and run an edit, within two seconds on an idle machine.
// How soon it is on a given one is what make scale measures.
func TestAThousandStreams(t *testing.T) {
	const n, wave = manyGateways, 50
	w := newWorld(t)
	w.lead("a")
	r := w.start("a", coordinator.Bounds{}, nil)
	defer r.kill()
	p := testPlan("ns", 1)
	r.setPlan(p)
	routes := []*wire.RouteReport{{
		Policy: "support", Provider: "anthropic", Generation: 1, Sends: 1,
		Limits: []*wire.LimitReport{{Name: "tokens", Spent: 1}, {Name: "in-flight"}},
		Lanes:  []*wire.LaneReport{{Name: "default", Sent: 1, WaitBuckets: make([]uint64, len(wire.WaitBoundsMillis)+1)}},
	}}
	began := time.Now()
	gateways := make([]*gateway, n)
	defer leaveAll(gateways)
	for i := range gateways {
		gateways[i] = w.join(w.pod("ns", name(i), nil), func(g *gateway) { g.routes = routes })
		if came := i + 1; came%wave == 0 {
			eventuallyEvery(t, 50*time.Millisecond, patience, "a wave to report", func() bool { return len(r.Reporting("ns")) == came })
		}
	}
	t.Logf("%d gateways connected in %v", n, time.Since(began))

	p.Revision = 2
	r.setPlan(p)
	took := eventuallyEvery(t, 100*time.Millisecond, patience, "the edit to be acknowledged by all", func() bool {
		acknowledged := 0
		for _, ack := range r.Acknowledged("ns") {
			if ack.Revision == 2 {
				acknowledged++
			}
		}
		return acknowledged == n
	})
	f := r.Policy("ns", "support", time.Now())
	if f.Providers[0].Sends != n || len(f.Gateways) != n {
		t.Errorf("%d sends of %d gateways, want %d of %d", f.Providers[0].Sends, len(f.Gateways), n, n)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("an edit was acknowledged by all in %v; %d KiB of heap a gateway, both sides", took, m.HeapInuse/1024/n)
}

func leaveAll(gateways []*gateway) {
	var wg sync.WaitGroup
	for _, g := range gateways {
		if g != nil {
			wg.Go(g.leave)
		}
	}
	wg.Wait()
}
