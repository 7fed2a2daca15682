// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"
	"time"
)

// origin is where simulated clocks start.
var origin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// sim drives a scheduler on a simulated clock, as its owner would.
type sim struct {
	t   failing
	s   *Scheduler
	now time.Time
	// onAdmit is what happens to an admitted call; by default it is settled at what it reserved.
	onAdmit func(*simCall)
	onEvent func()
	decided []*Call
	spent   map[BucketID]float64
	// expired, late and displaced count calls that were accepted and then refused.
	expired, late, displaced int
	onDisplaced              func(*simCall)
}

// failing is what testing.T and rapid.T share.
type failing interface {
	Helper()
	Fatalf(format string, args ...any)
}

type simCall struct {
	Call
	came, left time.Duration
	// sends and back are of its retries: how many came, and the time before which the latest may not go.
	sends int
	back  time.Duration
}

func newSim(tb testing.TB, cfg Config) *sim {
	tb.Helper()
	m := &sim{t: tb, now: origin, s: New(cfg, origin), spent: map[BucketID]float64{}}
	m.onAdmit = func(c *simCall) { m.s.Settle(&c.Call, nil, m.now) }
	return m
}

func (m *sim) since() time.Duration { return m.now.Sub(origin) }

func (m *sim) id(name string) BucketID {
	m.t.Helper()
	id, ok := m.s.Bucket(name)
	if !ok {
		m.t.Fatalf("no bucket %q", name)
	}
	return id
}

// runTo runs the scheduler's own events up to a time and ends there.
func (m *sim) runTo(at time.Duration) {
	m.t.Helper()
	end := origin.Add(at)
	for same := 0; ; {
		next, ok := m.s.Next(m.now)
		if !ok || next.After(end) {
			break
		}
		if next.Equal(m.now) {
			if same++; same > 100 {
				m.t.Fatalf("at %v Next is due for ever", m.since())
			}
		} else {
			same = 0
		}
		m.now = next
		m.advance()
	}
	m.now = end
}

func (m *sim) advance() {
	m.t.Helper()
	m.decided = m.s.Advance(m.now, m.decided[:0])
	for _, d := range m.decided {
		c := d.Owner.(*simCall)
		switch v := d.Verdict(); {
		case v.State == Admitted:
			m.admitted(c)
		case v.Reason == ReasonQueueExpired:
			m.expired++
		case v.Reason == ReasonDisplaced:
			m.displaced++
			if m.onDisplaced != nil {
				m.onDisplaced(c)
			}
		default:
			m.late++
		}
	}
	if m.onEvent != nil {
		m.onEvent()
	}
}

func (m *sim) admitted(c *simCall) {
	c.left = m.since()
	for _, h := range c.holds {
		m.spent[h.bucket.id] += h.amount
	}
	m.onAdmit(c)
}

// submit brings a call at a time, after everything due before.
func (m *sim) submit(at time.Duration, c *simCall) Verdict {
	m.t.Helper()
	m.runTo(at)
	c.Owner, c.came, c.Arrival = c, at, m.now
	v := m.s.Submit(&c.Call, m.now)
	if v.State == Admitted {
		m.admitted(c)
	}
	if m.onEvent != nil {
		m.onEvent()
	}
	return v
}

func (m *sim) level(name string) float64 {
	m.t.Helper()
	var snap Snapshot
	m.s.Snapshot(m.now, &snap)
	for _, b := range snap.Buckets {
		if b.Name == name {
			return b.Level
		}
	}
	m.t.Fatalf("no bucket %q in the snapshot", name)
	return 0
}

// The canonical account.
const (
	requestRate = 4000.0 / 60
	tokenRate   = 400_000.0 / 60
)

func canonical(empty bool, lanes ...Lane) Config {
	return Config{
		Buckets: []Bucket{
			{Name: "requests", Rate: requestRate, Capacity: 4000, Window: time.Minute, StartEmpty: empty},
			{Name: "input", Rate: tokenRate, Capacity: 400_000, Window: time.Minute, StartEmpty: empty},
		},
		Lanes: lanes,
	}
}

// tokens makes a call on the canonical account with a deadline this long after it comes.
func (m *sim) tokens(lane int, amount float64, at, deadline time.Duration) *simCall {
	return &simCall{Call: Call{
		Lane: lane, Deadline: origin.Add(at + deadline),
		Costs: []Cost{{Bucket: m.id("requests"), Amount: 1, AtLeast: 1}, {Bucket: m.id("input"), Amount: amount, AtLeast: amount}},
	}}
}

func near(got, want, by float64) bool { return got-want <= by && want-got <= by }
