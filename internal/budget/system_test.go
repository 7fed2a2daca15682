// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"math"
	"time"

	"pgregory.net/rapid"
)

// system is a random scheduler within the conditions of the guarantees: each lane's largest call and hold add up
// to at most every bucket's capacity, every lane has a share, and all calls of a lane need the same buckets.
type system struct {
	cfg Config
	// sets are the buckets each lane's calls need, largest the most they take.
	sets    [][]int
	largest [][]float64
	// longest is the longest hold within the conditions.
	longest time.Duration
}

const (
	// leastCapacity and mostRate bound what edits make of a capacity and a rate: the conditions of the guarantees hold
	// before and after.
	leastCapacity, mostRate = 0.6, 2.0
)

func drawSystem(t *rapid.T, slots bool) system {
	var y system
	seconds := math.Inf(1)
	for b := range rapid.IntRange(1, 4).Draw(t, "buckets") {
		capacity := rapid.Float64Range(10, 1e6).Draw(t, "capacity")
		fills := rapid.Float64Range(1, 120).Draw(t, "seconds")
		seconds = min(seconds, fills)
		y.cfg.Buckets = append(y.cfg.Buckets, Bucket{
			Name: fmt.Sprint("b", b), Capacity: capacity, Window: time.Minute,
			Rate: capacity / fills, StartEmpty: rapid.Bool().Draw(t, "empty"),
		})
	}
	if slots && rapid.Bool().Draw(t, "slots") {
		y.cfg.Buckets = append(y.cfg.Buckets, Bucket{Name: "slots", Kind: Slots, Capacity: float64(rapid.IntRange(1, 8).Draw(t, "n"))})
	}
	y.longest = time.Duration(seconds * leastCapacity / mostRate / 2 * 1e9)
	y.cfg.Lanes = y.drawLanes(t, rapid.IntRange(1, 4).Draw(t, "lanes"))
	for range y.cfg.Lanes {
		y.drawLane(t, len(y.cfg.Lanes))
	}
	return y
}

// drawLanes draws everything that a policy says about lanes but what they match.
func (y *system) drawLanes(t *rapid.T, n int) []Lane {
	out := make([]Lane, n)
	shares, sum := make([]float64, n), 0.0
	for i := range shares {
		shares[i] = rapid.Float64Range(0.1, 1).Draw(t, "share")
		sum += shares[i]
	}
	used := rapid.SampledFrom([]float64{1, 1, 0.7}).Draw(t, "shared out")
	plain := rapid.Bool().Draw(t, "plain")
	for i := range out {
		out[i] = Lane{Name: fmt.Sprint("l", i), Share: shares[i] / sum * used, MaxDepth: 1 << 20}
		if plain {
			continue
		}
		out[i].Group = rapid.SampledFrom([]string{"", "", "a", "b"}).Draw(t, "group")
		out[i].Priority = rapid.Int32Range(-1, 1).Draw(t, "priority")
		out[i].Weight = rapid.SampledFrom([]float64{0, 1, 3, 10}).Draw(t, "weight")
		out[i].Hold = rapid.SampledFrom([]time.Duration{0, -1, 1, y.longest / 10, y.longest}).Draw(t, "hold")
	}
	return out
}

func (y *system) drawLane(t *rapid.T, n int) {
	var set []int
	largest := make([]float64, len(y.cfg.Buckets))
	for b, spec := range y.cfg.Buckets {
		if b > 0 && rapid.IntRange(0, 3).Draw(t, "uses") == 0 {
			continue
		}
		set = append(set, b)
		largest[b] = leastCapacity * spec.Capacity / float64(2*n) * rapid.Float64Range(0.01, 1).Draw(t, "largest")
		if spec.Kind == Slots {
			largest[b] = 1
		}
	}
	y.sets, y.largest = append(y.sets, set), append(y.largest, largest)
}

// drawCall makes a call of a lane.
func (y *system) drawCall(t *rapid.T, m *sim, lane int) *simCall {
	c := &simCall{Call: Call{Lane: lane, Bytes: rapid.Int64Range(0, 100).Draw(t, "bytes")}}
	for _, b := range y.sets[lane] {
		amount := y.largest[lane][b]
		if y.cfg.Buckets[b].Kind != Slots {
			amount *= rapid.Float64Range(0.01, 1).Draw(t, "part")
		}
		id, _ := m.s.Bucket(y.cfg.Buckets[b].Name)
		c.Costs = append(c.Costs, Cost{Bucket: id, Amount: amount})
	}
	return c
}

// drawGap draws a time between arrivals, from all at once to slower than any refill.
func (y *system) drawGap(t *rapid.T) time.Duration {
	if rapid.IntRange(0, 2).Draw(t, "burst") == 0 {
		return 0
	}
	return time.Duration(rapid.Float64Range(0, 8).Draw(t, "gap") * 1e9)
}

// checkSound fails when a level or a credit is not what it may be. With debt, levels may be negative.
func (m *sim) checkSound(debt bool) {
	for _, b := range m.s.slots {
		if b == nil {
			continue
		}
		m.s.refill(b)
		tol := 1e-9*b.Capacity + b.eps*100
		sum, claimed := 0.0, 0.0
		for i := range b.accounts {
			a := &b.accounts[i]
			sum += a.credit
			claimed += a.ceiling()
			if math.IsNaN(a.credit) || a.credit > a.ceiling()+tol && b.Kind == Continuous {
				m.t.Fatalf("%v: %s: credit %v of lane %d, ceiling %v", m.since(), b.Name, a.credit, i, a.ceiling())
			}
			if a.queued.sum < 0 || a.committed.sum < 0 || a.inUse.sum < 0 {
				m.t.Fatalf("%v: %s: account %+v", m.since(), b.Name, *a)
			}
		}
		switch {
		case math.IsNaN(b.level) || b.level > b.top():
			m.t.Fatalf("%v: %s: level %v of %v", m.since(), b.Name, b.level, b.Capacity)
		case !debt && b.level < -tol:
			m.t.Fatalf("%v: %s: level %v without debt", m.since(), b.Name, b.level)
		case sum > b.level+tol && claimed <= b.Capacity+tol:
			// Committed heads may claim more than there is room for, in lanes whose calls exceed their shares: then the first
			// whose credit suffices goes, and the rest is made up by what it takes.
			m.t.Fatalf("%v: %s: credits %v exceed the level %v", m.since(), b.Name, sum, b.level)
		case b.level > b.ceiling+tol && b.Kind == Continuous:
			m.t.Fatalf("%v: %s: level %v above the ceiling %v of an outside fact", m.since(), b.Name, b.level, b.ceiling)
		}
	}
}

// checkConserving fails when a call that is next waits although all its buckets have what the others' credits do
// not claim, and nobody who comes before it in the order of borrowing waits for one of them and costs no more. Calls of
// the same lane that were committed before keep their part. Between groups it is the group's turn that counts, and no cost.
// Only in queues that are nearly full does a call also wait
// for one of a higher priority that costs more.
func (m *sim) checkConserving() {
	for _, q := range m.s.active {
		n := q.candidate(m.s.clock)
		if n != nil && !m.blocked(n.call) && !m.outranked(n.call) {
			m.t.Fatalf("%v: a call of lane %s waits for nothing", m.since(), q.lane.Name)
		}
	}
}

// blocked says whether some bucket has less than the call and the credits of the others.
func (m *sim) blocked(c *Call) bool {
	for k := range c.holds {
		if m.short(c, &c.holds[k]) {
			return true
		}
	}
	return false
}

func (m *sim) short(c *Call, h *hold) bool {
	m.s.refill(h.bucket)
	others := m.s.aside(c, h.bucket)
	for j := range h.bucket.accounts {
		if j != c.lane.index {
			others += max(0, h.bucket.accounts[j].credit)
		}
	}
	return h.bucket.level < h.amount+others
}

// groupWaits says whether another group's call, whose turn to borrow comes before, lacks what they both need and nothing
// else: whatever it costs.
func (m *sim) groupWaits(x, c *Call) bool {
	if x.lane.group.v > c.lane.group.v {
		return false
	}
	waits := false
	for k := range x.holds {
		h := &x.holds[k]
		if !m.short(x, h) {
			continue
		}
		switch {
		case c.holding(h.bucket) != nil:
			waits = true
		case m.s.testHold(x, h) == lacks:
			// Of what older heads of its lane are to have, no more counts than its lane has.
			return false
		}
	}
	return waits
}

// outranked is the exception of checkConserving.
func (m *sim) outranked(c *Call) bool {
	for _, q := range m.s.active {
		l := q.lane
		n := q.candidate(m.s.clock)
		if n != nil && l.Group != c.lane.Group {
			if m.groupWaits(n.call, c) {
				return true
			}
			continue
		}
		higher := l.Priority > c.lane.Priority
		if n == nil || l == c.lane || !higher && (l.Priority != c.lane.Priority || l.v >= c.lane.v) {
			continue
		}
		larger, waits, shared := false, false, false
		for k := range c.holds {
			if h := n.call.holding(c.holds[k].bucket); h != nil {
				shared = true
				larger = larger || h.amount > c.holds[k].amount
				waits = waits || m.short(n.call, h)
			}
		}
		if waits && !larger || shared && higher && m.s.pressure.nearlyFull {
			return true
		}
	}
	return false
}
