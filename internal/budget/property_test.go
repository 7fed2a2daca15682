// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// slack is what rounding to nanoseconds may add up to in these tests.
const slack = 2 * time.Microsecond

// run submits random calls and returns them by lane in the order in which they left.
func (y *system) run(t *rapid.T, m *sim) (byLane [][]*simCall, all []*simCall) {
	byLane = make([][]*simCall, len(y.cfg.Lanes))
	m.onAdmit = func(c *simCall) {
		m.s.Settle(&c.Call, nil, m.now)
		byLane[c.Lane] = append(byLane[c.Lane], c)
		all = append(all, c)
	}
	m.onEvent = func() { m.checkSound(false) }
	at := time.Duration(0)
	for range rapid.IntRange(1, 40).Draw(t, "calls") {
		at += y.drawGap(t)
		c := y.drawCall(t, m, rapid.IntRange(0, len(y.cfg.Lanes)-1).Draw(t, "lane"))
		if v := m.submit(at, c); v.State == Refused {
			t.Fatalf("refused without a deadline: %+v", v)
		}
		m.checkConserving()
	}
	m.runTo(at + 24*time.Hour)
	return byLane, all
}

func newRapidSim(t *rapid.T, cfg Config) *sim {
	m := &sim{t: t, now: origin, s: New(cfg, origin), spent: map[BucketID]float64{}}
	m.onAdmit = func(c *simCall) { m.s.Settle(&c.Call, nil, m.now) }
	return m
}

func TestGuaranteesHoldAgainstPrivateBuckets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		y := drawSystem(t, false)
		m := newRapidSim(t, y.cfg)
		byLane, _ := y.run(t, m)
		for lane, calls := range byLane {
			p := y.private(lane)
			left := time.Duration(0)
			for k, c := range calls {
				if want := p.next(c); c.left > want+slack {
					t.Fatalf("G2: call %d of lane %d left at %v, from its private bucket at %v", k, lane, c.left, want)
				}
				committed := max(left, c.came)
				if bound := y.bound(lane, c); c.left-committed > bound+slack {
					t.Fatalf("G1: call %d of lane %d was first at %v and left at %v, bound %v", k, lane, committed, c.left, bound)
				}
				left = c.left
			}
		}
		for i, l := range m.s.lanes {
			if l.depth != 0 {
				t.Fatalf("%d calls of lane %d never left", l.depth, i)
			}
		}
	})
}

// bound is max_b c_b/(r·R_b).
func (y *system) bound(lane int, c *simCall) time.Duration {
	need := 0.0
	for k, b := range y.sets[lane] {
		need = max(need, c.Costs[k].Amount/(y.cfg.Lanes[lane].Share*y.cfg.Buckets[b].Rate))
	}
	return time.Duration(need * 1e9)
}

func TestNeverOverLimitInAnyInterval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		y := drawSystem(t, false)
		m := newRapidSim(t, y.cfg)
		_, all := y.run(t, m)
		for _, spec := range y.cfg.Buckets {
			id := m.id(spec.Name)
			for i := range all {
				sum := 0.0
				for _, c := range all[i:] {
					amount, _ := total(c.Costs, id)
					sum += amount
					limit := spec.Capacity + spec.Rate*(c.left-all[i].left).Seconds()
					if sum > limit*(1+1e-9) {
						t.Fatalf("%s: %v admitted from %v to %v, limit %v", spec.Name, sum, all[i].left, c.left, limit)
					}
				}
			}
		}
	})
}

// Between events nothing is missed: just before Next is due, nobody could have gone.
func TestNextIsNeverLate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		y := drawSystem(t, true)
		m := newRapidSim(t, y.cfg)
		at := time.Duration(0)
		for range rapid.IntRange(1, 30).Draw(t, "calls") {
			at += y.drawGap(t)
			m.submit(at, y.drawCall(t, m, rapid.IntRange(0, len(y.cfg.Lanes)-1).Draw(t, "lane")))
			for range 20 {
				next, ok := m.s.Next(m.now)
				if !ok {
					break
				}
				part := rapid.SampledFrom([]float64{0.1, 0.5, 0.9, 0.9999}).Draw(t, "part")
				// Half a microsecond before it is due, rounding decides.
				if d := time.Duration(part * float64(next.Sub(m.now))); next.Sub(m.now)-d > 500*time.Nanosecond {
					m.now = m.now.Add(d)
					m.s.tick(m.now)
					for _, q := range m.s.active {
						if n := q.candidate(m.s.clock); n != nil {
							if got, _ := m.s.test(n.call); got != lacks {
								t.Fatalf("at %v a call may go, Next says %v", m.since(), next.Sub(origin))
							}
						}
					}
				}
				m.now = next
				m.advance()
				m.checkConserving()
			}
			at = max(at, m.since())
		}
	})
}

func TestWhatIsAcceptedIsServedAndTheRestDeclinedAtOnce(t *testing.T) {
	// One lane, one bucket: the prediction is exact, so nothing accepted fails.
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.Float64Range(10, 1e6).Draw(t, "capacity")
		rate := capacity / rapid.Float64Range(1, 120).Draw(t, "seconds")
		m := newRapidSim(t, Config{Buckets: []Bucket{{Name: "b", Rate: rate, Capacity: capacity, Window: time.Minute, StartEmpty: true}}})
		at := time.Duration(0)
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			at += time.Duration(rapid.Float64Range(0, 1.5).Draw(t, "gap") * 1e9)
			amount := capacity * rapid.Float64Range(0.001, 0.2).Draw(t, "amount")
			deadline := time.Duration(rapid.Float64Range(0, 60).Draw(t, "deadline") * 1e9)
			c := &simCall{Call: Call{Costs: []Cost{{Bucket: m.id("b"), Amount: amount}}, Deadline: origin.Add(at + deadline)}}
			m.runTo(at)
			ahead := m.s.slots[0].accounts[0].queued.sum
			level := m.level("b")
			v := m.submit(at, c)
			if v.State == Refused && ahead == 0 && level+rate*deadline.Seconds() >= amount*(1+1e-9) {
				t.Fatalf("refused %+v though nobody was before it and the refill suffices", v)
			}
		}
		m.runTo(at + time.Hour)
		if m.expired+m.late > 0 {
			t.Fatalf("%d accepted calls expired, %d were declined later", m.expired, m.late)
		}
	})
}
