// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/testing/bubble"
	"github.com/headgate-dev/headgate/internal/wire"
)

// ignored is how many draws were, by why.
func (r *replica) ignored(t *testing.T) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(r.Server)
	families, err := registry.Gather()
	must(t, err)
	out := map[string]float64{}
	for _, f := range families {
		if f.GetName() == "headgate_coordinator_draws_ignored_total" {
			for _, m := range f.GetMetric() {
				out[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
			}
		}
	}
	return out
}

func drawsOf(draws ...*wire.Draw) *wire.Up {
	return &wire.Up{Message: &wire.Up_Draws{Draws: &wire.Draws{Draws: draws}}}
}

// greedy wants everything there is, as often as it likes.
func greedy(sequence uint64, units float64) *wire.Draw {
	want := []*wire.Amount{{Limit: "tokens", Units: units}, {Limit: "in-flight", Units: units}}
	return &wire.Draw{
		Policy: "support", Provider: "anthropic", Sequence: sequence,
		Counts: []*wire.Count{{Limit: "tokens", Held: units, Returned: units, Refunded: units}, {Limit: "in-flight", Held: units, Returned: units}},
		Wants:  []*wire.Want{{Lane: "default", Units: want}, {Lane: "default", Bulk: sequence, Units: want}},
	}
}

// hostile is a pod's gateway that is not what it should be.
func (w *world) hostile(pod figures.Pod) raw {
	w.t.Helper()
	c := w.raw(token(pod))
	must(w.t, c.Send(hello(pod)))
	return c
}

// A gateway draws on what governs its pod by the pod's own labels: not on another namespace's policies, not on one that does
// not select it, not on what does not exist; its draws are counted, and nobody is told anything.
func TestE12DrawsOnWhatDoesNotGovernThePodAreIgnored(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w, r, _ := drawn(t)
		defer r.kill()
		p := drawPlan("ns", 2)
		p.Policies = append(p.Policies, p.Policies[0])
		p.Policies[1].Name, p.Policies[0].Selector = "others", selector("app", "chat")
		r.setPlan(p)
		theirs := drawPlan("other", 1)
		theirs.Policies[0].Name = "theirs"
		r.setPlan(theirs)
		c := w.hostile(w.pod("ns", "a", nil))
		defer c.close()
		foreign := []*wire.Draw{greedy(1, 100), greedy(1, 100), greedy(1, 100), {}}
		foreign[1].Policy, foreign[2].Provider = "theirs", strings.Repeat("x", 4000)
		must(t, c.Send(drawsOf(foreign...)))
		own := greedy(1, 100)
		own.Policy = "others"
		must(t, c.Send(drawsOf(own)))
		told := map[string]bool{}
		for began := time.Now(); time.Since(began) < 5*time.Second && len(told) == 0; {
			down, err := c.Receive()
			must(t, err)
			for _, g := range down.GetGrants().GetGrants() {
				told[g.GetPolicy()+"/"+g.GetProvider()] = true
			}
		}
		if len(told) != 1 || !told["others/anthropic"] {
			t.Errorf("it was told of %v", told)
		}
		if n := r.ignored(t)["foreign"]; n != 4 {
			t.Errorf("%v draws were counted as foreign, want 4", n)
		}
		for route, f := range r.Budgets().Routes {
			if (f.Holders != 0) != (route.Policy == "others") {
				t.Errorf("%v has %d holders", route, f.Holders)
			}
		}
	})
}

// Whatever one gateway wants, says it has, or claims to have given back, two honest ones get what is theirs, and the
// provider never more than the limit.
func TestAbsurdDrawsStarveNobody(t *testing.T) {
	for name, units := range map[string]float64{
		"everything": 1e9, "huge": math.MaxFloat64, "infinite": math.Inf(1), "not a number": math.NaN(), "negative": -1e9,
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				w, r, p := drawn(t)
				defer r.kill()
				c := w.hostile(w.pod("ns", "hostile", nil))
				defer c.close()
				var term atomic.Pointer[wire.Grant]
				term.Store(&wire.Grant{})
				go func() {
					for {
						down, err := c.Receive()
						if err != nil {
							return
						}
						for _, g := range down.GetGrants().GetGrants() {
							term.Store(g)
						}
					}
				}()
				all := []*drawing{w.draw(w.pod("ns", "a", nil), p, small(750)), w.draw(w.pod("ns", "b", nil), p, small(750))}
				used := p.over(func() {
					for i := range uint64(600) {
						if i%10 == 0 {
							must(t, c.Send(reportOf()))
						}
						d := greedy(i+1, units)
						d.Term, d.Stamp, d.LeaseNanos = term.Load().GetTerm(), term.Load().GetStamp(), math.MaxInt64
						must(t, c.Send(drawsOf(d)))
						time.Sleep(100 * time.Millisecond)
					}
				})
				t.Logf("the honest ones used %.3f of the rate", used)
				if used < 0.6 { // of three that want all, two have two thirds
					t.Errorf("the honest ones used %.3f of the rate", used)
				}
				leaveDrawings(all)
				p.check(t)
			})
		})
	}
}

// Draws that come too fast are read more slowly, and end the stream if that goes on; too large ones end it at once.
func TestFloodsOfDrawsEndTheStream(t *testing.T) {
	pod := figures.Pod{Namespace: "ns", Name: "a", UID: "uid-a"}
	flood := []*wire.Up{hello(pod)}
	for i := range uint64(1000) {
		flood = append(flood, drawsOf(greedy(i, 1)))
	}
	amounts := make([]*wire.Amount, wire.MaxLimits+1)
	for i := range amounts {
		amounts[i] = &wire.Amount{}
	}
	many := make([]*wire.Draw, wire.MaxRoutes+1)
	for i := range many {
		many[i] = &wire.Draw{}
	}
	for name, tc := range map[string]struct {
		messages []*wire.Up
		want     connect.Code
	}{
		"a flood":         {flood, connect.CodeResourceExhausted},
		"too many":        {[]*wire.Up{hello(pod), drawsOf(many...)}, connect.CodeInvalidArgument},
		"too much seen":   {[]*wire.Up{hello(pod), drawsOf(&wire.Draw{Seen: amounts})}, connect.CodeInvalidArgument},
		"too much wanted": {[]*wire.Up{hello(pod), drawsOf(&wire.Draw{Wants: []*wire.Want{{Units: amounts}}})}, connect.CodeInvalidArgument},
		"too large":       {[]*wire.Up{hello(pod), drawsOf(&wire.Draw{Policy: strings.Repeat("x", 2<<20)})}, connect.CodeResourceExhausted},
		"draws first":     {[]*wire.Up{drawsOf(greedy(1, 1))}, connect.CodeInvalidArgument},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				w, r, p := drawn(t)
				defer r.kill()
				w.pod("ns", "a", nil)
				honest := w.draw(w.pod("ns", "b", nil), p, small(750))
				defer honest.leave()
				time.Sleep(5 * time.Second)
				c := w.raw(token(pod))
				defer c.close()
				began := time.Now()
				if got := c.end(tc.messages...); got != tc.want {
					t.Errorf("the stream ended with %v, want %v", got, tc.want)
				}
				if took := time.Since(began); took > time.Minute {
					t.Errorf("it took %v", took)
				}
				if used := p.over(func() { time.Sleep(20 * time.Second) }); used < 0.7 {
					t.Errorf("the honest gateway, which offers 0.75, used %.3f", used)
				}
			})
		})
	}
}

// Thousands of names, and a gateway that reads nothing, cost no memory: names end at the plan's, and what a stream has
// waiting is one grant a route.
func TestDrawsGrowNoMemory(t *testing.T) {
	w, r, p := drawn(t)
	defer r.kill()
	honest := w.draw(w.pod("ns", "honest", nil), p, small(750))
	defer honest.leave()
	deaf := w.hostile(w.pod("ns", "deaf", nil))
	defer deaf.close()
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	time.Sleep(time.Second)
	before, sequence := heap(), uint64(0)
	for range 60 { // as many as one may draw at once, with 32 names each
		d := greedy(sequence, 10)
		sequence++
		for i := range wire.MaxLimits - 2 {
			d.Counts = append(d.Counts, &wire.Count{Limit: fmt.Sprintf("%d-%d-%s", sequence, i, strings.Repeat("x", 200)), Held: 1})
		}
		for i := range wire.MaxWants - 2 {
			d.Wants = append(d.Wants, &wire.Want{Lane: fmt.Sprintf("%d-%d-%s", sequence, i, strings.Repeat("x", 200)), Bulk: sequence})
		}
		must(t, deaf.Send(drawsOf(d)))
	}
	time.Sleep(2 * time.Second)
	if after := heap(); after > before+4<<20 {
		t.Errorf("the heap grew from %d to %d KiB", before>>10, after>>10)
	}
	f := r.Budgets().Routes
	if len(f) != 1 {
		t.Errorf("%d routes", len(f))
	}
	for _, route := range f {
		if len(route.Lanes) != 1 || len(route.Limits) != 2 {
			t.Errorf("lanes %v, limits %v", route.Lanes, route.Limits)
		}
	}
}
