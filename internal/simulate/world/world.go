// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"
	"math/rand/v2"
	"time"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/simulate/clock"
	"github.com/headgate-dev/headgate/internal/simulate/result"
	"github.com/headgate-dev/headgate/internal/simulate/workload"
)

// Options are what a run depends on.
type Options struct {
	Workload *workload.Workload
	// Policy has the routes of the workload; it tells their dialects, and what lanes are promised.
	Policy *plan.Policy
	Seed   uint64
	Client Maker
}

// World is one run.
type World struct {
	wl     *workload.Workload
	policy plan.Policy
	clock  *clock.Clock
	client Client

	sites    map[string]*site
	order    []*site
	streams  []*stream
	gateways int
	weights  []float64

	// chance is the client's, network and told the world's own.
	chance, network, told, sdks *rand.Rand
	// begin and end bound what is counted.
	begin, end time.Time
	curves     curves
	calls      int
	err        error
}

// Run plays a workload.
func Run(o Options) (*result.Result, error) {
	w := &World{
		wl: o.Workload, policy: clone(o.Policy), clock: clock.New(), sites: map[string]*site{},
		chance: source(o.Seed, 1), network: source(o.Seed, 2), told: source(o.Seed, 3), sdks: source(o.Seed, 4),
		begin: clock.Start.Add(o.Workload.Warmup), end: clock.Start.Add(o.Workload.Duration),
	}
	if err := w.build(o.Seed); err != nil {
		return nil, err
	}
	w.client = o.Client(w)
	w.measureAt()
	w.scheduleEvents()
	w.scheduleStreams()
	w.scheduleCurves()
	if err := w.clock.Run(w.end); err != nil {
		return nil, err
	}
	if w.err != nil {
		return nil, w.err
	}
	return w.result(o.Seed), nil
}

// source is a generator of chance of its own.
func source(seed, purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, purpose)) }

// clone copies what edits change.
func clone(p *plan.Policy) plan.Policy {
	out := *p
	out.Routes = append([]plan.Route(nil), p.Routes...)
	for i := range out.Routes {
		out.Routes[i].Limits = append([]plan.Limit(nil), out.Routes[i].Limits...)
	}
	return out
}

// build makes the providers and the streams.
func (w *World) build(seed uint64) error {
	for i := range w.wl.Providers {
		p := &w.wl.Providers[i]
		route, ok := w.policy.Route(p.Route)
		if !ok {
			return fmt.Errorf("%w:\n  provider.%s: the policy has no such provider", workload.ErrInvalid, p.Route)
		}
		f, ok := facts.ByName(route.Dialect)
		if !ok {
			return fmt.Errorf("%w:\n  provider.%s: dialect %s is unknown", workload.ErrInvalid, p.Route, route.Dialect)
		}
		s := newSite(w, p, route, f)
		w.sites[p.Route] = s
		w.order = append(w.order, s)
	}
	for i := range w.wl.Streams {
		s, err := newStream(w, i, seed)
		if err != nil {
			return err
		}
		w.streams = append(w.streams, s)
	}
	w.scale(w.wl.Gateways.Count)
	return nil
}

// Now is the time of the simulation.
func (w *World) Now() time.Time { return w.clock.Now() }

// Clock is the simulation's own.
func (w *World) Clock() *clock.Clock { return w.clock }

// After has do happen d from now.
func (w *World) After(d time.Duration, do func()) { w.clock.After(d, do) }

// Chance draws from [0, 1).
func (w *World) Chance() float64 { return w.chance.Float64() }

// Workload is what is played.
func (w *World) Workload() *workload.Workload { return w.wl }

// Facts are the dialect's of a route.
func (w *World) Facts(route string) facts.Facts { return w.sites[route].facts }

// scale has n gateways from now on. Those the workload has no weight for have the mean of the others.
func (w *World) scale(n int) {
	w.gateways = n
	w.weights = w.weights[:0]
	skew, sum := w.wl.Gateways.Skew, 0.0
	for _, s := range skew {
		sum += s
	}
	total := 0.0
	for i := range n {
		weight := 1.0
		switch {
		case i < len(skew):
			weight = skew[i]
		case len(skew) > 0:
			weight = sum / float64(len(skew))
		}
		total += weight
		w.weights = append(w.weights, total)
	}
}

// gateway is which gateway a call comes to, by a draw from [0, 1).
func (w *World) gateway(draw float64) int {
	n := len(w.weights)
	at := draw * w.weights[n-1]
	for i, upTo := range w.weights {
		if at < upTo {
			return i
		}
	}
	return n - 1
}

// Has says whether the workload has a provider of that route.
func (w *World) Has(route string) bool { return w.sites[route] != nil }

// Counted says whether a call came after the warmup.
func (w *World) Counted(c *Call) bool { return c.state.counted }
