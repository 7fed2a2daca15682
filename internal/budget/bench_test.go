// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"
	"time"
)

// threeBuckets is what a call of the canonical account passes: requests, input and output, with three lanes.
func threeBuckets() (*Scheduler, []Cost) {
	s := New(Config{
		Buckets: []Bucket{
			{Name: "requests", Rate: requestRate, Capacity: 4000, Window: time.Minute},
			{Name: "input", Rate: tokenRate, Capacity: 400_000, Window: time.Minute},
			{Name: "output", Rate: tokenRate / 5, Capacity: 80_000, Window: time.Minute},
		},
		Lanes: []Lane{
			{Name: "bulk", Share: 0.4, MaxDepth: 20_000, Priority: -1, Weight: 2},
			{Name: "batch", Share: 0.1, MaxDepth: 20_000, Priority: -1},
			{Name: "chat", Share: 0.5, MaxDepth: 20_000},
		},
		MaxDepth: 20_000, MaxBytes: 1 << 30,
	}, origin)
	costs := make([]Cost, 3)
	for i, name := range []string{"requests", "input", "output"} {
		costs[i].Bucket, _ = s.Bucket(name)
	}
	costs[0].Amount, costs[1].Amount, costs[2].Amount = 1, 90, 10
	return s, costs
}

// A call that goes at once: submit and settle, with nobody waiting.
func BenchmarkAdmit(b *testing.B) {
	s, costs := threeBuckets()
	actual := append([]Cost(nil), costs...)
	c := &Call{Lane: 2, Costs: costs}
	now := origin
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(15 * time.Millisecond)
		c.Arrival, c.Deadline = now, now.Add(time.Minute)
		if s.Submit(c, now).State != Admitted {
			b.Fatal(c.Verdict())
		}
		s.Settle(c, actual, now)
	}
}

// waiters fills the bulk lane's queue with calls that stay.
func waiters(tb testing.TB, s *Scheduler, costs []Cost, n int) {
	tb.Helper()
	for range n {
		big := append([]Cost(nil), costs...)
		big[1].Amount = 60_000
		s.Submit(&Call{Lane: 0, Costs: big}, origin)
	}
	if s.lanes[0].depth < n-10 {
		tb.Fatalf("%d wait", s.lanes[0].depth)
	}
}

// The same while 10,000 calls wait in another lane: submit, settle, and what Next and Advance cost.
func BenchmarkAdmitBesideTenThousandWaiters(b *testing.B) {
	s, costs := threeBuckets()
	waiters(b, s, costs, 10_000)
	// A thousand calls a second, within what the lane may take.
	costs[0].Amount, costs[1].Amount, costs[2].Amount = 0.02, 1.5, 0.1
	c := &Call{Lane: 2, Costs: costs}
	now := origin
	var decided []*Call
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Millisecond)
		c.Arrival, c.Deadline = now, now.Add(time.Minute)
		if s.Submit(c, now).State != Admitted {
			b.Fatal(c.Verdict())
		}
		s.Settle(c, nil, now)
		if at, ok := s.Next(now); ok && !at.After(now) {
			decided = s.Advance(now, decided[:0])
			// What left comes back, so that the queue stays as long.
			for _, d := range decided {
				s.Settle(d, nil, now)
				d.Arrival = now
				s.Submit(d, now)
			}
		}
	}
}

// A call that joins a queue of 10,000 and leaves it again.
func BenchmarkQueueAmongTenThousand(b *testing.B) {
	s, costs := threeBuckets()
	waiters(b, s, costs, 10_000)
	big := append([]Cost(nil), costs...)
	big[1].Amount = 50_000
	c := &Call{Lane: 0, Costs: big}
	now := origin.Add(time.Second)
	b.ReportAllocs()
	for b.Loop() {
		c.Arrival = now
		if s.Submit(c, now).State != Queued {
			b.Fatal(c.Verdict())
		}
		s.Cancel(c, now)
	}
}

// A call that is refused at once behind 10,000 others.
func BenchmarkRefuseBehindTenThousand(b *testing.B) {
	s, costs := threeBuckets()
	waiters(b, s, costs, 10_000)
	big := append([]Cost(nil), costs...)
	big[1].Amount = 50_000
	c := &Call{Lane: 0, Costs: big, Deadline: origin.Add(6 * time.Second)}
	now := origin.Add(time.Second)
	b.ReportAllocs()
	for b.Loop() {
		c.Arrival = now
		if s.Submit(c, now).State != Refused {
			b.Fatal(c.Verdict())
		}
	}
}

// A call that takes the place of one of 10,000 others, which is full: what each of both costs, submitting included.
func BenchmarkDisplaceAmongTenThousand(b *testing.B) {
	d := newDisplacing(b)
	b.ReportAllocs()
	for b.Loop() {
		d.once(b)
	}
}

// displacing is a full scheduler in which a call of a higher priority takes another's place, which then comes again.
type displacing struct {
	s       *Scheduler
	c       *Call
	now     time.Time
	decided []*Call
}

func newDisplacing(tb testing.TB) *displacing {
	tb.Helper()
	s, costs := threeBuckets()
	waiters(tb, s, costs, 10_000)
	s.maxDepth = s.depth
	big := append([]Cost(nil), costs...)
	big[1].Amount = 300_000
	return &displacing{s: s, c: &Call{Lane: 2, Costs: big}, now: origin.Add(time.Second)}
}

func (d *displacing) once(tb testing.TB) {
	tb.Helper()
	d.c.Arrival = d.now
	if v := d.s.Submit(d.c, d.now); v.State != Queued {
		tb.Fatal(v)
	}
	d.s.Cancel(d.c, d.now)
	d.decided = d.s.Advance(d.now, d.decided[:0])
	for _, c := range d.decided {
		if c.Verdict().Reason != ReasonDisplaced || d.s.Submit(c, d.now).State != Queued {
			tb.Fatal(c.Verdict())
		}
	}
}

// Decisions allocate nothing once the scheduler has run: that is what admission costs in memory.
func TestDecisionsAllocateNothing(t *testing.T) {
	s, costs := threeBuckets()
	waiters(t, s, costs, 10_000)
	costs[0].Amount, costs[1].Amount, costs[2].Amount = 0.02, 1.5, 0.1
	big := append([]Cost(nil), costs...)
	big[1].Amount = 50_000
	small, late, now := &Call{Lane: 2, Costs: costs}, &Call{Lane: 0, Costs: big}, origin
	var decided []*Call
	displaced := newDisplacing(t)
	for name, step := range map[string]func(){
		"submit, settle, advance": func() {
			now = now.Add(time.Millisecond)
			small.Arrival = now
			if s.Submit(small, now).State != Admitted {
				t.Fatal(small.Verdict())
			}
			s.Settle(small, costs, now)
			decided = s.Advance(now, decided[:0])
			for _, c := range decided {
				s.Settle(c, nil, now)
				s.Submit(c, now)
			}
		},
		"refuse": func() {
			late.Arrival, late.Deadline = now, now.Add(6*time.Second)
			if s.Submit(late, now).State != Refused {
				t.Fatal(late.Verdict())
			}
		},
		"displace": func() { displaced.once(t) },
	} {
		for range 100 {
			step()
		}
		if n := testing.AllocsPerRun(1000, step); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
