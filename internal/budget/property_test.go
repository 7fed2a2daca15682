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
		// A call that went at once may have passed the turn to others.
		m.runTo(at)
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

// Whatever the lanes' priorities, weights and holds, and whatever the others do: over edits, retries, full queues and
// debts, no call leaves later than from a private bucket (G2), and no head waits longer than its cost takes at the
// lane's own rate (G1). What others overspent delays by that much at the lane's own rate, once; what the lane itself
// overspent its private bucket owes too.
func TestGuaranteesHoldAgainstPrivateBuckets(t *testing.T) {
	check(t, 9000, func(t *rapid.T) {
		r := newTrial(t)
		r.play()
		for lane, order := range r.order {
			p := newPrivate(r.epochs[lane], 0)
			for k, a := range order {
				if want := p.next(a, a.came); a.left > want+r.owed(lane, a.others)+slack {
					t.Fatalf("G2: send %d of lane %d left at %v, from its private bucket at %v, others owe %v\n%s",
						k, lane, a.left, want, r.owed(lane, a.others), r.history(lane))
				}
				if a.committed < 0 {
					continue
				}
				alone := newPrivate(r.epochs[lane], a.committed)
				alone.bare = true
				alone.grow(max(a.came, a.committed), a.costs)
				want := alone.next(a, 0)
				if a.left > want+r.owed(lane, a.all)+slack {
					t.Fatalf("G1: send %d of lane %d was first at %v and left at %v, want by %v\n%s",
						k, lane, a.committed, a.left, want, r.history(lane))
				}
			}
		}
		for i, l := range r.s.lanes {
			if l.depth != 0 || len(r.passed[i]) != 0 {
				t.Fatalf("%d calls of lane %d never left", l.depth+len(r.passed[i]), i)
			}
		}
	})
}

func TestNeverOverLimitInAnyInterval(t *testing.T) {
	check(t, 1500, func(t *rapid.T) {
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
	check(t, 1500, func(t *rapid.T) {
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
	check(t, 1500, func(t *rapid.T) {
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
