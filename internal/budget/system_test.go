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
}

func drawSystem(t *rapid.T, slots bool) system {
	var y system
	for b := range rapid.IntRange(1, 4).Draw(t, "buckets") {
		capacity := rapid.Float64Range(10, 1e6).Draw(t, "capacity")
		y.cfg.Buckets = append(y.cfg.Buckets, Bucket{
			Name: fmt.Sprint("b", b), Capacity: capacity, Window: time.Minute,
			Rate:       capacity / rapid.Float64Range(1, 120).Draw(t, "seconds"),
			StartEmpty: rapid.Bool().Draw(t, "empty"),
		})
	}
	if slots && rapid.Bool().Draw(t, "slots") {
		y.cfg.Buckets = append(y.cfg.Buckets, Bucket{Name: "slots", Kind: Slots, Capacity: float64(rapid.IntRange(1, 8).Draw(t, "n"))})
	}
	n := rapid.IntRange(1, 4).Draw(t, "lanes")
	weights, sum := make([]float64, n), 0.0
	for i := range weights {
		weights[i] = rapid.Float64Range(0.1, 1).Draw(t, "weight")
		sum += weights[i]
	}
	used := rapid.SampledFrom([]float64{1, 1, 0.7}).Draw(t, "shared out")
	for i := range n {
		y.cfg.Lanes = append(y.cfg.Lanes, Lane{Name: fmt.Sprint("l", i), Share: weights[i] / sum * used, MaxDepth: 1 << 20})
		y.drawLane(t, n)
	}
	return y
}

func (y *system) drawLane(t *rapid.T, n int) {
	var set []int
	largest := make([]float64, len(y.cfg.Buckets))
	for b, spec := range y.cfg.Buckets {
		if b > 0 && rapid.IntRange(0, 3).Draw(t, "uses") == 0 {
			continue
		}
		set = append(set, b)
		largest[b] = spec.Capacity / float64(2*n) * rapid.Float64Range(0.01, 1).Draw(t, "largest")
		if spec.Kind == Slots {
			largest[b] = 1
		}
	}
	y.sets, y.largest = append(y.sets, set), append(y.largest, largest)
}

// drawCall makes a call of a lane.
func (y *system) drawCall(t *rapid.T, m *sim, lane int) *simCall {
	c := &simCall{Call: Call{Lane: lane}}
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
		sum := 0.0
		for i := range b.accounts {
			a := &b.accounts[i]
			sum += a.credit
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
		case sum > b.level+tol:
			m.t.Fatalf("%v: %s: credits %v exceed the level %v", m.since(), b.Name, sum, b.level)
		case b.level > b.ceiling+tol && b.Kind == Continuous:
			m.t.Fatalf("%v: %s: level %v above the ceiling %v of an outside fact", m.since(), b.Name, b.level, b.ceiling)
		}
	}
}

// checkConserving fails when a call that is next waits although all its buckets have what the others' credits do
// not claim. Calls of the same lane that were committed before keep their part.
func (m *sim) checkConserving() {
	for _, q := range m.s.active {
		n := q.candidate(m.s.clock)
		if n == nil {
			continue
		}
		blocked := false
		for _, h := range n.call.holds {
			m.s.refill(h.bucket)
			others := m.s.aside(n.call, h.bucket)
			for j := range h.bucket.accounts {
				if j != q.lane.index {
					others += max(0, h.bucket.accounts[j].credit)
				}
			}
			blocked = blocked || h.bucket.level < h.amount+others
		}
		if !blocked {
			m.t.Fatalf("%v: a call of lane %s waits for nothing", m.since(), q.lane.Name)
		}
	}
}

// private is a bucket vector that one lane would have to itself.
type private struct {
	rate, hold, level []float64
	at                time.Duration
}

func (y *system) private(lane int) *private {
	p := &private{}
	for _, b := range y.sets[lane] {
		spec, share := y.cfg.Buckets[b], y.cfg.Lanes[lane].Share
		p.rate = append(p.rate, share*spec.Rate)
		p.hold = append(p.hold, min(share*spec.Capacity/2, 10*share*spec.Rate))
		p.level = append(p.level, 0)
	}
	return p
}

// next is when the private bucket lets the next call go.
func (p *private) next(c *simCall) time.Duration {
	start := max(p.at, c.came)
	p.grow(start, nil)
	wait := 0.0
	for k, cost := range c.Costs {
		if lack := cost.Amount - p.level[k]; lack > 0 {
			wait = max(wait, lack/p.rate[k])
		}
	}
	start += time.Duration(math.Ceil(wait * 1e9))
	p.grow(start, c.Costs)
	for k, cost := range c.Costs {
		p.level[k] -= cost.Amount
	}
	return start
}

func (p *private) grow(to time.Duration, head []Cost) {
	for k := range p.level {
		limit := p.hold[k]
		if head != nil {
			limit = max(limit, head[k].Amount)
		}
		p.level[k] = min(limit, p.level[k]+p.rate[k]*(to-p.at).Seconds())
	}
	p.at = to
}
