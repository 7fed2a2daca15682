// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"fmt"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/plan"
)

// few is a route of which only so many calls at once are limited, for lanes with these shares.
func few(slots int64, shares ...int32) plan.Route {
	r := plan.Route{
		Name: "anthropic", Outage: "Safe",
		Limits: []plan.Limit{{Name: "slots", Budget: plan.InFlight, Amount: slots, Burst: slots}},
	}
	for i, s := range shares {
		r.Lanes = append(r.Lanes, plan.Lane{Name: fmt.Sprint("lane", i), SharePermille: s, MaxDepth: 200, MaxWaitMillis: 600_000})
	}
	return r
}

// busy has each gateway always want so many calls at once in each lane, and counts by gateway and by lane how many go.
type busy struct {
	w                *world
	wants            int
	lasts            time.Duration
	inUse            map[string]float64
	byLane           []float64
	total, most, all float64
}

func (b *busy) goOn(d time.Duration) {
	const step = 10 * time.Millisecond
	for until := b.w.now.Add(d); b.w.now.Before(until); {
		for _, n := range b.w.members {
			in := make([]int, len(n.route.Lanes))
			for _, t := range n.waiting {
				in[t.Lane]++
			}
			for _, r := range n.going {
				in[r.ticket.Lane]++
				if r.ends.Sub(r.ticket.Sent) != b.lasts {
					r.ends = r.ticket.Sent.Add(b.lasts)
				}
			}
			for lane := range in {
				for ; in[lane] < b.wants; in[lane]++ {
					if v := n.ask(1, lane, 0); v.State != budget.Admitted && v.State != budget.Queued {
						b.w.t.Fatalf("a call is refused: %+v", v)
					}
				}
			}
		}
		b.w.tick(step)
		running := 0.0
		for _, n := range b.w.members {
			running += float64(len(n.going))
			b.inUse[n.name] += float64(len(n.going)) * step.Seconds()
			for _, r := range n.going {
				b.byLane[r.ticket.Lane] += step.Seconds()
			}
		}
		b.most = max(b.most, running)
		b.total += running * step.Seconds()
		b.all += step.Seconds()
	}
}

// forget begins to count anew.
func (b *busy) forget() {
	b.inUse, b.byLane = map[string]float64{}, make([]float64, len(b.w.route.Lanes))
	b.total, b.most, b.all = 0, 0, 0
}

// Gateways that all want more slots than there are use all of them, in even parts, and the lanes by their shares.
func TestAllSlotsAreInUse(t *testing.T) {
	for _, slots := range []int64{3, 10} {
		for _, gateways := range []int{2, 4} {
			for _, shares := range [][]int32{{1000}, {400, 600}} {
				t.Run(fmt.Sprintf("%d slots, %d gateways, %d lanes", slots, gateways, len(shares)), func(t *testing.T) {
					w := newWorld(t, 1, few(slots, shares...), int32(gateways))
					b := &busy{w: w, wants: 50 / len(shares), lasts: 2 * time.Second}
					b.forget()
					for i := range gateways {
						w.join(fmt.Sprint("g", i), true)
					}
					b.goOn(30 * time.Second)
					b.forget()
					b.goOn(3 * time.Minute)
					t.Logf("used %.3f, most %v, by gateway %v, by lane %v", b.total/b.all/float64(slots), b.most, b.inUse, b.byLane)
					if b.most > float64(slots) {
						t.Errorf("%v calls at once", b.most)
					}
					if used := b.total / b.all / float64(slots); used < 0.95 {
						t.Errorf("%.3f of the slots are in use", used)
					}
					for name, in := range b.inUse {
						if even := b.total / float64(gateways); in < 0.8*even || in > 1.2*even {
							t.Errorf("%s has %.2f of an even part", name, in/even)
						}
					}
					for i, s := range shares {
						// A gate cannot divide one slot: half of one may be amiss in each.
						has, due := b.byLane[i]/b.all, float64(slots)*float64(s)/1000
						if amiss := max(has-due, due-has); amiss > 0.5*float64(gateways)+0.2 {
							t.Errorf("lane %d has %.2f of %.2f", i, has, due)
						}
					}
				})
			}
		}
	}
}

// Who has no lease makes one call at a time however few slots there are; all are in use again when the pool is back, and never
// more than the limit and one for each gateway.
func TestAnOutageRefusesNoCallForSlots(t *testing.T) {
	const slots, gateways = 3, 4
	w := newWorld(t, 1, few(slots, 1000), gateways)
	b := &busy{w: w, wants: 5, lasts: 2 * time.Second}
	b.forget()
	for i := range gateways {
		w.join(fmt.Sprint("g", i), true)
	}
	b.goOn(30 * time.Second)
	w.cut = true
	b.goOn(20 * time.Second)
	b.forget()
	b.goOn(time.Minute)
	for _, n := range w.members {
		if in := b.inUse[n.name] / b.all; in < 0.95 || in > 1 {
			t.Errorf("%s makes %.2f calls at once without a lease", n.name, in)
		}
	}
	w.cut = false
	b.goOn(30 * time.Second)
	b.forget()
	b.goOn(time.Minute)
	if used := b.total / b.all / slots; used < 0.95 || b.most > slots {
		t.Errorf("%.3f are in use when the pool is back, at most %v", used, b.most)
	}
}

// A gateway that crashes and comes back finds the slots of its calls, which ended with it.
func TestACrashLeavesNoSlotsInUse(t *testing.T) {
	const slots = 6
	w := newWorld(t, 1, few(slots, 1000), 4)
	b := &busy{w: w, wants: 10, lasts: 2 * time.Second}
	b.forget()
	w.join("a", true)
	w.join("b", true)
	b.goOn(30 * time.Second)
	w.crash(0)
	w.join("a", false)
	b.goOn(15 * time.Second)
	b.forget()
	b.goOn(time.Minute)
	if used := b.total / b.all / slots; used < 0.95 || b.most > slots {
		t.Errorf("%.3f are in use, at most %v", used, b.most)
	}
}
