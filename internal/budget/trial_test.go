// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"
)

// attempt is one send.
type attempt struct {
	call  *simCall
	costs []Cost
	spent []float64
	// came is from when on it could have gone: its arrival, or for a retry its notBefore.
	came, left time.Duration
	// committed is since when it was the head of its queue; -1 if it went past a sleeping one.
	committed time.Duration
	// others and all are what other lanes, and all of them, had overspent when it left, by bucket.
	others, all []float64
}

// trial plays a random system, with whatever may happen to one, and keeps what each lane would need to prove that it
// got what it was promised.
type trial struct {
	*sim
	y     system
	rt    *rapid.T
	debts bool
	// cfg is in force, epochs are all that were, by lane.
	cfg    Config
	epochs [][]epoch
	// order is each lane's sends in the order in which they were its turn; passed are those that went while the head
	// slept, whose turn is after it.
	order, passed [][]*attempt
	sleeping      []*simCall
	// heads are the committed calls by lane, since when.
	heads  []*simCall
	headAt []time.Duration
	// overspent is by lane and bucket; ahead is the part of it that was spent before its turn, which delays the lane's
	// own calls as what others overspend.
	overspent, ahead [][]float64
	again            []*simCall
}

func newTrial(t *rapid.T) *trial {
	r := &trial{y: drawSystem(t, false), rt: t, debts: rapid.Bool().Draw(t, "debts")}
	n := len(r.y.cfg.Lanes)
	r.cfg = r.y.cfg
	r.cfg.MaxDepth = rapid.SampledFrom([]int{0, 0, 0, 4, 12}).Draw(t, "depth")
	r.cfg.MaxBytes = rapid.SampledFrom([]int64{0, 0, 400}).Draw(t, "bytes")
	r.sim = newRapidSim(t, r.cfg)
	r.onAdmit, r.onEvent = r.went, r.after
	r.epochs, r.order, r.passed = make([][]epoch, n), make([][]*attempt, n), make([][]*attempt, n)
	r.sleeping, r.heads, r.headAt = make([]*simCall, n), make([]*simCall, n), make([]time.Duration, n)
	r.overspent, r.ahead = make([][]float64, n), make([][]float64, n)
	for i := range n {
		r.overspent[i], r.ahead[i] = make([]float64, len(r.cfg.Buckets)), make([]float64, len(r.cfg.Buckets))
	}
	r.remember(r.cfg)
	return r
}

// remember begins an epoch.
func (r *trial) remember(cfg Config) {
	before := make([]float64, len(r.cfg.Buckets))
	for b := range before {
		before[b] = r.cfg.Buckets[b].Capacity
	}
	for i := range r.epochs {
		r.epochs[i] = append(r.epochs[i], r.y.epochOf(i, cfg, before, r.since()))
	}
	r.cfg = cfg
}

// edit changes every number of the configuration within the conditions of the guarantees.
func (r *trial) edit() {
	cfg := r.cfg
	cfg.Buckets = append([]Bucket(nil), r.y.cfg.Buckets...)
	for b := range cfg.Buckets {
		cfg.Buckets[b].Capacity *= rapid.SampledFrom([]float64{leastCapacity, 1, 1, 2}).Draw(r.rt, "capacity")
		if r.debts || r.anyPassed() {
			// A debt that carries a head past a shrinking edit costs it part of what it has collected: no simple bound.
			// Nor does who has passed a sleeping head come after an edit that both have seen.
			cfg.Buckets[b].Capacity = max(cfg.Buckets[b].Capacity, r.cfg.Buckets[b].Capacity)
		}
		cfg.Buckets[b].Rate *= rapid.SampledFrom([]float64{0.5, 1, 1, mostRate}).Draw(r.rt, "rate")
	}
	cfg.Lanes = r.y.drawLanes(r.rt, len(r.cfg.Lanes))
	r.s.Apply(cfg, r.now)
	r.remember(cfg)
	r.advance()
}

// anyPassed says whether some call has gone whose turn is still to come.
func (r *trial) anyPassed() bool {
	for _, passed := range r.passed {
		if len(passed) > 0 {
			return true
		}
	}
	return false
}

// went settles a call, at what it reserved or something else, and now and then has it come again.
func (r *trial) went(c *simCall) {
	a := &attempt{call: c, costs: c.Costs, came: max(c.came, c.back), left: r.since(), committed: -1}
	if r.heads[c.Lane] == c {
		a.committed, r.heads[c.Lane] = r.headAt[c.Lane], nil
	}
	factor := 1.0
	if r.debts {
		factor = rapid.SampledFrom([]float64{0.5, 1, 1, 1.3}).Draw(r.rt, "spent")
	}
	if c.sends < 2 && rapid.IntRange(0, 4).Draw(r.rt, "again") == 0 {
		r.again = append(r.again, c)
		factor = rapid.SampledFrom([]float64{0, 1}).Draw(r.rt, "charged")
	}
	actual := append([]Cost(nil), c.Costs...)
	for k, b := range r.y.sets[c.Lane] {
		actual[k].Amount *= factor
		a.spent = append(a.spent, actual[k].Amount)
		r.overspent[c.Lane][b] += max(0, actual[k].Amount-c.Costs[k].Amount)
	}
	r.s.Settle(&c.Call, actual, r.now)
	r.account(a)
	r.line(a)
}

// account notes what was overspent up to now.
func (r *trial) account(a *attempt) {
	a.others, a.all = slices.Clone(r.ahead[a.call.Lane]), make([]float64, len(r.cfg.Buckets))
	for i := range r.overspent {
		for b, x := range r.overspent[i] {
			a.all[b] += x
			if i != a.call.Lane {
				a.others[b] += x
			}
		}
	}
}

// line puts a send where its turn was.
func (r *trial) line(a *attempt) {
	i := a.call.Lane
	switch r.sleeping[i] {
	case nil:
		r.order[i] = append(r.order[i], a)
	case a.call:
		r.order[i] = append(append(r.order[i], a), r.passed[i]...)
		r.passed[i], r.sleeping[i] = nil, nil
	default:
		r.passed[i] = append(r.passed[i], a)
		for k, b := range r.y.sets[i] {
			r.ahead[i][b] += max(0, a.spent[k]-a.costs[k].Amount)
		}
	}
}

// after brings back who is to come again, and notes who became a head.
func (r *trial) after() {
	for len(r.again) > 0 {
		c := r.again[0]
		r.again = r.again[1:]
		c.sends++
		wait := time.Duration(rapid.Float64Range(0, 5).Draw(r.rt, "after") * 1e9)
		c.back = r.since() + wait
		switch v := r.s.Retry(&c.Call, r.now.Add(wait), r.now); v.State {
		case Admitted:
			r.admitted(c)
		case Queued:
		default:
			r.t.Fatalf("retry = %+v", v)
		}
	}
	for _, q := range r.s.active {
		if q.head == nil {
			continue
		}
		i, c := q.lane.index, q.head.call.Owner.(*simCall)
		if r.heads[i] != c {
			r.heads[i], r.headAt[i] = c, r.since()
		}
		if q.head.wake > r.s.clock {
			r.sleeping[i] = c
		}
	}
	r.checkSound(r.debts)
}

// play submits random calls, edits between them, and lets everything end.
func (r *trial) play() {
	at := time.Duration(0)
	for range rapid.IntRange(1, 40).Draw(r.rt, "calls") {
		at += r.y.drawGap(r.rt)
		r.runTo(at)
		if rapid.IntRange(0, 15).Draw(r.rt, "edit") == 0 {
			r.edit()
		}
		c := r.y.drawCall(r.rt, r.sim, rapid.IntRange(0, len(r.cfg.Lanes)-1).Draw(r.rt, "lane"))
		v := r.submit(at, c)
		forRoom := v.Reason == ReasonQueueFull || v.Reason == ReasonLanePaused
		if v.State == Refused && (!forRoom || r.cfg.MaxDepth == 0 && r.cfg.MaxBytes == 0) {
			r.t.Fatalf("refused without a deadline: %+v", v)
		}
		// What came back meanwhile may serve somebody at once.
		r.runTo(at)
		r.checkConserving()
	}
	r.runTo(at + 24*time.Hour)
}

// owed is how long so much debt, by bucket, may keep a lane waiting at its least rate.
func (r *trial) owed(lane int, debt []float64) time.Duration {
	longest := 0.0
	for k, b := range r.y.sets[lane] {
		for _, e := range r.epochs[lane] {
			longest = max(longest, debt[b]/e.rate[k])
		}
	}
	return time.Duration(longest * 1e9)
}

// history tells what happened to a lane.
func (r *trial) history(lane int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "debts %v, %+v\n", r.debts, r.y.cfg)
	for _, e := range r.epochs[lane] {
		fmt.Fprintf(&b, "from %v: rates %v, holds %v, scaled %v\n", e.at, e.rate, e.hold, e.scale)
	}
	for k, a := range r.order[lane] {
		fmt.Fprintf(&b, "%d: %p came %v, first at %v, left %v, spent %v of %v, others overspent %v\n",
			k, a.call, a.came, a.committed, a.left, a.spent, a.costs, a.others)
	}
	return b.String()
}
