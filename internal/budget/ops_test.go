// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// world drives a scheduler through random operations beside a plain model of its levels.
type world struct {
	*sim
	y    system
	rt   *rapid.T
	live []*simCall
	wait []*simCall
	// turned were refused when they came.
	turned []*simCall
	// levels is the model: one number a bucket, refilled, charged and refunded.
	levels []float64
	at     time.Duration
	// modelled is whether levels is kept; edits and outside facts end it.
	modelled bool
	// edited is whether the configuration was changed, which may end the conditions of the guarantees.
	edited bool
}

func newWorld(t *rapid.T) *world {
	w := &world{y: drawSystem(t, true), rt: t, modelled: true}
	w.y.cfg.MaxDepth = rapid.SampledFrom([]int{0, 0, 3, 12}).Draw(t, "depth")
	w.y.cfg.MaxBytes = rapid.SampledFrom([]int64{0, 0, 300}).Draw(t, "bytes")
	w.sim = newRapidSim(t, w.y.cfg)
	w.onAdmit = func(c *simCall) {
		w.refill()
		w.live = append(w.live, c)
		for _, h := range c.holds {
			w.move(h.bucket, -h.amount)
		}
	}
	w.onDisplaced = w.checkDisplaced
	w.onEvent = func() {
		if !w.edited {
			w.checkSound(true)
		}
	}
	for _, spec := range w.y.cfg.Buckets {
		level := spec.Capacity
		if spec.StartEmpty && spec.Kind == Continuous {
			level = 0
		}
		w.levels = append(w.levels, level)
	}
	return w
}

// refill moves the model to the latest time seen.
func (w *world) refill() {
	if dt := w.since() - w.at; dt > 0 {
		w.at = w.since()
		for b, spec := range w.y.cfg.Buckets {
			if spec.Kind == Continuous {
				w.levels[b] = min(spec.Capacity, w.levels[b]+spec.Rate*dt.Seconds())
			}
		}
	}
}

// move changes the model's level.
func (w *world) move(b *bucket, by float64) {
	if w.modelled {
		w.levels[b.id] = min(b.Capacity, w.levels[b.id]+by)
	}
}

func (w *world) pick(from *[]*simCall) *simCall {
	if len(*from) == 0 {
		return nil
	}
	i := rapid.IntRange(0, len(*from)-1).Draw(w.rt, "which")
	c := (*from)[i]
	(*from)[i] = (*from)[len(*from)-1]
	*from = (*from)[:len(*from)-1]
	return c
}

func (w *world) submitOne() {
	lane := rapid.IntRange(0, len(w.y.cfg.Lanes)-1).Draw(w.rt, "lane")
	c := w.y.drawCall(w.rt, w.sim, lane)
	if rapid.Bool().Draw(w.rt, "subset") && len(c.Costs) > 1 {
		// Another queue of the same lane.
		c.Costs = c.Costs[:len(c.Costs)-1]
	}
	if rapid.Bool().Draw(w.rt, "deadline") {
		c.Deadline = w.now.Add(time.Duration(rapid.Float64Range(0, 30).Draw(w.rt, "seconds") * 1e9))
	}
	switch v := w.submit(w.since(), c); v.State {
	case Queued:
		w.wait = append(w.wait, c)
		if s := w.s; s.maxDepth > 0 && s.depth > s.maxDepth || s.maxBytes > 0 && s.bytes > s.maxBytes {
			w.t.Fatalf("%d calls of %d bytes wait, room is for %d and %d", s.depth, s.bytes, s.maxDepth, s.maxBytes)
		}
	case Refused:
		w.turned = append(w.turned, c)
	default:
	}
}

func (w *world) settleOne() {
	c := w.pick(&w.live)
	if c == nil {
		return
	}
	w.refill()
	var actual []Cost
	for _, h := range c.holds {
		b := h.bucket
		amount := h.amount * rapid.SampledFrom([]float64{0, 0.5, 1, 1, 1.1}).Draw(w.rt, "actual")
		if b.Kind == Slots {
			w.move(b, h.amount)
			continue
		}
		actual = append(actual, Cost{Bucket: b.id, Amount: amount})
		w.move(b, h.amount-amount)
	}
	if !w.s.Settle(&c.Call, actual, w.now) {
		w.t.Fatalf("settle did not act")
	}
	if w.s.Settle(&c.Call, actual, w.now) {
		w.t.Fatalf("settle acted twice")
	}
	if rapid.IntRange(0, 2).Draw(w.rt, "again") == 0 {
		w.retry(c)
	}
}

func (w *world) retry(c *simCall) {
	after := time.Duration(rapid.Float64Range(0, 5).Draw(w.rt, "after") * 1e9)
	switch v := w.s.Retry(&c.Call, w.now.Add(after), w.now); v.State {
	case Queued:
		w.wait = append(w.wait, c)
	case Admitted:
		w.admitted(c)
	default:
	}
}

func (w *world) chargeOne() {
	if len(w.live) == 0 {
		return
	}
	w.refill()
	c := w.live[rapid.IntRange(0, len(w.live)-1).Draw(w.rt, "which")]
	if len(c.holds) == 0 {
		return
	}
	h := c.holds[0]
	more := h.amount * 0.1
	if h.bucket.Kind == Continuous {
		w.move(h.bucket, -more)
	}
	w.s.Charge(&c.Call, []Cost{{Bucket: h.bucket.id, Amount: more}}, w.now)
}

func (w *world) check() {
	w.onEvent()
	w.refill()
	kept := w.wait[:0]
	for _, c := range w.wait {
		if c.Verdict().State == Queued {
			kept = append(kept, c)
		}
	}
	w.wait = kept
	depth := 0
	for _, l := range w.s.lanes {
		depth += l.depth
	}
	if depth != len(w.wait) {
		w.t.Fatalf("%d calls wait, lanes count %d", len(w.wait), depth)
	}
	w.checkBounds()
	for id, b := range w.s.slots {
		if b == nil {
			continue
		}
		reserved := 0.0
		for _, c := range w.live {
			if h := c.holding(b); h != nil {
				reserved += h.amount
			}
		}
		tol := 1e-6 * (1 + b.Capacity)
		if !near(b.reserved, reserved, tol) {
			w.t.Fatalf("%s: reserved %v, live calls hold %v", b.Name, b.reserved, reserved)
		}
		if w.modelled && !near(b.level, w.levels[id], tol) {
			w.t.Fatalf("%v: %s: level %v, model %v", w.since(), b.Name, b.level, w.levels[id])
		}
	}
}

// checkBounds counts what waits again: only who was accepted before a bound, which retries and edits are, is beyond it.
func (w *world) checkBounds() {
	depth, bytes := 0, int64(0)
	counted := make([]yielding, len(w.s.lanes))
	for _, c := range w.wait {
		n := c.node
		depth, bytes = depth+1, bytes+c.Bytes
		if n.place == ordered && n.mayYield() {
			counted[n.queue.lane.index].n++
			counted[n.queue.lane.index].bytes += c.Bytes
		}
	}
	if depth != w.s.depth || bytes != w.s.bytes {
		w.t.Fatalf("%d calls of %d bytes wait, %d and %d are counted", depth, bytes, w.s.depth, w.s.bytes)
	}
	for i, l := range w.s.lanes {
		if l.yielding != counted[i] {
			w.t.Fatalf("lane %s: %+v may be displaced, counted are %+v", l.Name, counted[i], l.yielding)
		}
	}
}

// checkDisplaced fails when somebody lost his place to whom it could not: who is told so is neither a retry nor was
// ever a head, gave way to the highest priority there is in the queues, and is told of a wait.
func (w *world) checkDisplaced(c *simCall) {
	if c.retried || c.seq != 0 || c.verdict.Wait <= 0 {
		w.t.Fatalf("displaced: %+v, retried %v, committed %v", c.verdict, c.retried, c.seq)
	}
	for _, l := range w.s.lanes {
		if l.Priority > c.lane.Priority {
			return
		}
	}
	w.t.Fatalf("displaced from the highest priority")
}

// step does one random operation and lets what follows from it happen.
func (w *world) step(ops string) {
	switch op := ops[rapid.IntRange(0, len(ops)-1).Draw(w.rt, "op")]; op {
	case 'u':
		w.submitOne()
	case 's':
		w.settleOne()
	case 'c':
		if c := w.pick(&w.wait); c != nil {
			w.s.Cancel(&c.Call, w.now)
		}
	case 'm':
		w.chargeOne()
	case 't':
		w.runTo(w.since() + w.y.drawGap(w.rt))
	case 'b':
		w.s.Advance(w.now.Add(-time.Hour), nil)
		w.s.Submit(&Call{Costs: []Cost{{Bucket: 0, Amount: math.NaN()}}, Deadline: w.now.Add(-time.Hour)}, w.now.Add(-time.Hour))
	case 'e':
		w.edit()
	case 'r':
		w.raise()
	case 'l':
		w.modelled = false
		b := w.y.cfg.Buckets[rapid.IntRange(0, len(w.y.cfg.Buckets)-1).Draw(w.rt, "bucket")]
		id, _ := w.s.Bucket(b.Name)
		w.s.Lower(id, b.Capacity*rapid.Float64Range(-0.5, 1).Draw(w.rt, "level"), w.now)
	}
	w.runTo(w.since())
	w.advance()
	w.checkConserving()
	w.check()
}

// raise lifts one level, and never above the fact or the capacity.
func (w *world) raise() {
	w.modelled = false
	spec := w.y.cfg.Buckets[rapid.IntRange(0, len(w.y.cfg.Buckets)-1).Draw(w.rt, "bucket")]
	id, _ := w.s.Bucket(spec.Name)
	fact := spec.Capacity * rapid.Float64Range(-0.5, 1.5).Draw(w.rt, "level")
	before := w.level(spec.Name)
	w.s.Raise(id, fact, w.now)
	after, top := w.level(spec.Name), min(fact, w.s.bucket(id).Capacity)
	if spec.Kind == Slots && after != before || spec.Kind == Continuous && after != max(before, top) {
		w.t.Fatalf("%s: the fact %v of %v moved the level from %v to %v", spec.Name, fact, top, before, after)
	}
	w.onEvent()
}

// edit applies a random change of the configuration: other capacities and rates, limits and lanes that go, and all
// that lanes state.
func (w *world) edit() {
	w.modelled, w.edited = false, true
	var cfg Config
	for _, b := range w.y.cfg.Buckets {
		if rapid.IntRange(0, 4).Draw(w.rt, "removed") == 0 {
			continue
		}
		b.Capacity *= rapid.SampledFrom([]float64{0, 0.3, 1, 1, 1, 2}).Draw(w.rt, "capacity")
		b.Rate *= rapid.SampledFrom([]float64{0.5, 1, 2}).Draw(w.rt, "rate")
		cfg.Buckets = append(cfg.Buckets, b)
	}
	cfg.MaxDepth, cfg.MaxBytes = rapid.IntRange(0, 5).Draw(w.rt, "depth"), rapid.Int64Range(0, 200).Draw(w.rt, "bytes")
	for _, l := range w.y.drawLanes(w.rt, len(w.y.cfg.Lanes)) {
		if rapid.IntRange(0, 3).Draw(w.rt, "lane goes") > 0 {
			cfg.Lanes = append(cfg.Lanes, l)
		}
	}
	levels := map[string]float64{}
	for name, b := range w.s.byName {
		w.s.refill(b)
		levels[name] = b.level
	}
	w.s.Apply(cfg, w.now)
	for name, before := range levels {
		if b := w.s.byName[name]; b != nil && b.Kind == Continuous && b.level > before {
			w.t.Fatalf("%s: an edit lifted the level from %v to %v", name, before, b.level)
		}
	}
}

// drain ends everything and checks that nothing is left behind.
func (w *world) drain() {
	for range 1000 {
		for _, c := range w.live {
			w.s.Settle(&c.Call, nil, w.now)
		}
		w.live = w.live[:0]
		if len(w.wait) == 0 {
			break
		}
		w.modelled = false
		w.runTo(w.since() + time.Minute)
		w.check()
	}
	for _, b := range w.s.slots {
		if b == nil {
			continue
		}
		for i, a := range b.accounts {
			if a.queued != (tally{}) || a.committed != (tally{}) || a.inUse != (tally{}) {
				w.t.Fatalf("%s: lane %d keeps %+v", b.Name, i, a)
			}
		}
		if b.refs != 0 || b.reserved > 1e-6*b.Capacity {
			w.t.Fatalf("%s: %d references and %v reserved are left", b.Name, b.refs, b.reserved)
		}
	}
	if len(w.s.active) != 0 {
		w.t.Fatalf("%d queues are still active", len(w.s.active))
	}
}

func TestReserveAndSettleConserve(t *testing.T) {
	check(t, 2000, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			w.step("uuuusscmttb")
		}
		w.drain()
	})
}

func TestOutsideFactsKeepTheInvariants(t *testing.T) {
	check(t, 2000, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			w.step("uuuusscmttblr")
		}
		w.drain()
	})
}

func TestEditsUnderLoadLoseNothing(t *testing.T) {
	check(t, 2000, func(t *rapid.T) {
		w := newWorld(t)
		ids := append([]Bucket(nil), w.y.cfg.Buckets...)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			w.step("uuusscmttle")
		}
		w.s.Apply(Config{Buckets: ids}, w.now)
		w.drain()
	})
}
