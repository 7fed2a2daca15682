// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// wild is a scheduler under no conditions: whatever configurations and their edits may state, calls of any size, debts, outside
// facts, grants and fed buckets. No guarantee holds there, but what the scheduler says of itself does.
type wild struct {
	*sim
	rt          *rapid.T
	lanes       int
	buckets     int
	live, waits []*simCall
}

func newWild(t *rapid.T) *wild {
	w := &wild{rt: t, lanes: rapid.IntRange(1, 5).Draw(t, "lanes"), buckets: rapid.IntRange(1, 3).Draw(t, "buckets")}
	w.sim = newRapidSim(t, w.config())
	w.onAdmit = func(c *simCall) { w.live = append(w.live, c) }
	return w
}

// config draws one of all that may be stated.
func (w *wild) config() Config {
	t := w.rt
	cfg := Config{Patient: rapid.Bool().Draw(t, "patient"), Margin: rapid.SampledFrom([]float64{0, 0.1}).Draw(t, "margin")}
	for i := range w.buckets {
		cfg.Buckets = append(cfg.Buckets, w.bucket(i))
	}
	left := 1.0
	for i := range w.lanes {
		share := left * rapid.SampledFrom([]float64{0, 0.2, 0.3, 0.5, 1}).Draw(t, "share")
		left -= share
		cfg.Lanes = append(cfg.Lanes, Lane{
			Name: fmt.Sprint("l", i), Share: share, Group: rapid.SampledFrom([]string{"", "a", "a", "b"}).Draw(t, "group"),
			Priority: rapid.Int32Range(0, 1).Draw(t, "priority"), Weight: rapid.SampledFrom([]float64{0, 3}).Draw(t, "weight"),
			Hold: rapid.SampledFrom([]time.Duration{0, -1, 1e9, 20e9, 100e9}).Draw(t, "hold"),
		})
	}
	for _, name := range []string{"a", "b"} {
		cfg.Groups = append(cfg.Groups, Group{Name: name, Unlent: rapid.SampledFrom([]float64{0, 0, 0.5, 1}).Draw(t, "unlent")})
	}
	cfg.MaxDepth = rapid.SampledFrom([]int{0, 0, 3, 6}).Draw(t, "depth")
	return cfg
}

// bucket draws one that fills in between a second and two minutes.
func (w *wild) bucket(i int) Bucket {
	t := w.rt
	b := Bucket{
		Name: fmt.Sprint("b", i), Capacity: rapid.SampledFrom([]float64{5, 10, 100}).Draw(t, "capacity"), Window: time.Minute,
		StartEmpty: rapid.Bool().Draw(t, "empty"), Unheld: rapid.IntRange(0, 5).Draw(t, "unheld") == 0,
	}
	b.Rate = b.Capacity / rapid.SampledFrom([]float64{1, 7, 10, 60, 120}).Draw(t, "fills")
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		b.Kind, b.Capacity = Slots, float64(rapid.IntRange(1, 6).Draw(t, "slots"))
	case 1:
		b.Fed = true
	case 2:
		b.Window = time.Hour
	case 3, 4:
		b.Shares = w.shares()
	case 5:
		b.Limit = 3 * b.Capacity
	}
	return b
}

// shares are by lane, of some.
func (w *wild) shares() *map[string]float64 {
	shares, left := map[string]float64{}, 1.0
	for i := range w.lanes {
		if rapid.Bool().Draw(w.rt, "named") {
			part := left * rapid.SampledFrom([]float64{0.3, 0.5, 1}).Draw(w.rt, "part")
			shares[fmt.Sprint("l", i)], left = part, left-part
		}
	}
	return &shares
}

// call draws one that may need more than any lane keeps, and less than its lane has.
func (w *wild) call() *simCall {
	t := w.rt
	c := &simCall{Call: Call{
		Lane: rapid.IntRange(0, w.lanes-1).Draw(t, "lane"), Granted: rapid.IntRange(0, 11).Draw(t, "granted") == 0,
	}}
	for i := range w.buckets {
		id, known := w.s.Bucket(fmt.Sprint("b", i))
		if !known || i > 0 && rapid.IntRange(0, 2).Draw(t, "uses") == 0 {
			continue
		}
		b := w.s.bucket(id)
		amount := b.Capacity * rapid.SampledFrom([]float64{0.01, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1, 1.2}).Draw(t, "part")
		if b.Kind == Slots {
			amount = 1
		}
		c.Costs = append(c.Costs, Cost{Bucket: id, Amount: amount, AtLeast: min(amount, b.Limit)})
	}
	if rapid.IntRange(0, 3).Draw(t, "deadline") == 0 {
		c.Deadline = w.now.Add(time.Duration(rapid.Float64Range(0, 60).Draw(t, "patience") * 1e9))
	}
	if rapid.IntRange(0, 5).Draw(t, "sleeps") == 0 {
		c.NotBefore = w.now.Add(time.Duration(rapid.Float64Range(0, 20).Draw(t, "sleep") * 1e9))
	}
	return c
}

// pickFrom takes one of the calls out; nil if there is none.
func (w *wild) pickFrom(from *[]*simCall, state State) *simCall {
	kept := (*from)[:0]
	for _, c := range *from {
		if c.Verdict().State == state {
			kept = append(kept, c)
		}
	}
	*from = kept
	if len(kept) == 0 {
		return nil
	}
	i := rapid.IntRange(0, len(kept)-1).Draw(w.rt, "which")
	c := kept[i]
	*from = slices.Delete(kept, i, i+1)
	return c
}

// happens has one thing happen, without the scheduler's own moments between.
func (w *wild) happens() {
	t := w.rt
	id, _ := w.s.Bucket(fmt.Sprint("b", rapid.IntRange(0, w.buckets-1).Draw(t, "bucket")))
	b := w.s.bucket(id)
	part := b.Capacity * rapid.SampledFrom([]float64{-0.5, 0, 0.1, 0.5, 0.9, 1}).Draw(t, "amount")
	switch rapid.IntRange(0, 15).Draw(t, "what") {
	default:
		c := w.call()
		c.Owner, c.Arrival = c, w.now
		switch w.s.Submit(&c.Call, w.now).State {
		case Admitted:
			w.admitted(c)
		case Queued:
			w.waits = append(w.waits, c)
		default:
		}
	case 0, 1:
		w.settleOne()
	case 2:
		if c := w.pickFrom(&w.waits, Queued); c != nil {
			w.s.Cancel(&c.Call, w.now)
		}
	case 3:
		w.s.Lower(id, part, w.now)
	case 4:
		w.s.Raise(id, part, w.now)
	case 5:
		w.s.FillTo(id, rapid.SampledFrom([]float64{part, largestNumber}).Draw(t, "fill to"), w.now)
	case 6:
		w.s.Feed(id, rapid.IntRange(-1, w.lanes-1).Draw(t, "of"), part, w.now)
	case 7:
		w.s.Pour(id, part, w.now)
	case 8:
		w.s.Apply(w.config(), w.now)
	}
}

// settleOne ends a call, at what it reserved or at more or less, and now and then has it come again.
func (w *wild) settleOne() {
	c := w.pickFrom(&w.live, Admitted)
	if c == nil {
		return
	}
	actual := append([]Cost(nil), c.Costs...)
	for k := range actual {
		actual[k].Amount *= rapid.SampledFrom([]float64{0, 0.5, 1, 1, 1.5, 4}).Draw(w.rt, "spent")
	}
	w.s.Settle(&c.Call, actual, w.now)
	if rapid.IntRange(0, 3).Draw(w.rt, "again") > 0 {
		return
	}
	switch w.s.Retry(&c.Call, w.now.Add(time.Duration(rapid.Float64Range(0, 5).Draw(w.rt, "after")*1e9)), w.now).State {
	case Admitted:
		w.admitted(c)
	case Queued:
		w.waits = append(w.waits, c)
	default:
	}
}

// ready is a call that waits and may go, or should have been told that it may not; nil if there is none.
func (w *wild) ready() *Call {
	for _, q := range w.s.active {
		if len(q.sleepers) > 0 && q.sleepers[0].wake <= w.s.clock {
			return q.sleepers[0].call
		}
		if q.head != nil && q.head.startBy < w.s.clock || q.root != nil && q.root.soonest < w.s.clock {
			return q.candidate(math.MaxInt64).call
		}
		if n := q.candidate(w.s.clock); n != nil {
			if got, _ := w.s.test(n.call); got != lacks {
				return n.call
			}
		}
	}
	return nil
}

// within looks at a moment before Next is due, or at any if it never is.
func (w *wild) within(next time.Time, due bool) {
	part := rapid.SampledFrom([]float64{0.1, 0.5, 0.9, 0.9999}).Draw(w.rt, "part")
	if !due {
		next = w.now.Add(1000 * time.Second)
	}
	d := time.Duration(part * float64(next.Sub(w.now)))
	if next.Sub(w.now)-d <= 500*time.Nanosecond {
		// Half a microsecond before it is due, rounding decides.
		return
	}
	w.now = w.now.Add(d)
	w.s.tick(w.now)
	if c := w.ready(); c != nil {
		w.t.Fatalf("at %v may go %s; Next says %v, %t", w.since(), w.tell(c), next.Sub(origin), due)
	}
}

// tell describes a call and its buckets.
func (w *wild) tell(c *Call) string {
	text := fmt.Sprintf("the call %p of lane %s of group %s v %v", c, c.lane.Name, c.lane.Group, c.lane.group.v)
	for k := range c.holds {
		h := &c.holds[k]
		b := h.bucket
		text += fmt.Sprintf("\n%s: needs %v of %v at %v, fits %v, aside %v", b.Name, h.amount, b.level, w.s.clock, w.s.testHold(c, h), w.s.aside(c, b))
		for i := range b.accounts {
			a := &b.accounts[i]
			text += fmt.Sprintf("\n  account %d: credit %v of %v, share %v", i, a.credit, a.ceiling(), a.share)
		}
	}
	return text
}

// runOn plays to and over some of the scheduler's own moments.
func (w *wild) runOn() {
	idle := 0
	for range rapid.IntRange(0, 12).Draw(w.rt, "moments") {
		next, due := w.s.Next(w.now)
		w.within(next, due)
		if !due {
			return
		}
		if idle++; next.After(w.now) {
			idle = 0
		}
		w.now = next
		before := len(w.s.active)
		w.advance()
		if len(w.decided) > 0 || len(w.s.active) != before {
			idle = 0
		}
		if idle > 3 {
			w.t.Fatalf("at %v Next is due again and again%s", w.since(), w.tellAll())
		}
		if next, due := w.s.Next(w.now); due && !next.After(w.now) {
			// Who has become the head had slept past its time.
			continue
		}
		if c := w.ready(); c != nil {
			w.t.Fatalf("after Advance at %v may go %s", w.since(), w.tell(c))
		}
	}
}

// tellAll describes all that may be next.
func (w *wild) tellAll() string {
	text := ""
	for _, q := range w.s.active {
		if n := q.candidate(w.s.clock); n != nil {
			text += "\nof " + w.tell(n.call) + fmt.Sprintf("\n%v seconds on", float64(w.s.readyAt(n.call)-w.s.clock)/1e9)
		}
	}
	return text
}

// Whatever is configured, edited, spent, lent and told from outside: between events nothing is missed, and no moment is named
// again and again.
func TestNextIsNeverLateWhateverHappens(t *testing.T) {
	check(t, 3000, func(t *rapid.T) {
		w := newWild(t)
		for range rapid.IntRange(1, 30).Draw(t, "events") {
			w.happens()
			w.runOn()
		}
	})
}

// Whatever it is that waits, it is not looked for again and again: once nothing comes any more a minute has few moments.
func TestNextNamesFewMomentsWhateverHappens(t *testing.T) {
	check(t, 1500, func(t *rapid.T) {
		w := newWild(t)
		for range rapid.IntRange(1, 30).Draw(t, "events") {
			w.happens()
			if rapid.IntRange(0, 3).Draw(t, "fills no further") == 0 {
				id, _ := w.s.Bucket("b0")
				more := w.s.bucket(id).Capacity * rapid.SampledFrom([]float64{0, 0.01, 0.3}).Draw(t, "more")
				w.s.FillTo(id, w.s.Level(id, w.now)+more, w.now)
			}
			w.runOn()
		}
		if n := wakeUps(w.s, w.now, time.Minute); n > 100 {
			t.Fatalf("%d moments in a minute%s", n, w.tellAll())
		}
	})
}
