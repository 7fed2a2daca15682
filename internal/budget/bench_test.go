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
			{Name: "bulk", Share: 0.4, MaxDepth: 20_000},
			{Name: "batch", Share: 0.1, MaxDepth: 20_000},
			{Name: "chat", Share: 0.5, MaxDepth: 20_000},
		},
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
func waiters(b *testing.B, s *Scheduler, costs []Cost, n int) {
	b.Helper()
	for range n {
		big := append([]Cost(nil), costs...)
		big[1].Amount = 60_000
		s.Submit(&Call{Lane: 0, Costs: big}, origin)
	}
	if s.lanes[0].depth < n-10 {
		b.Fatalf("%d wait", s.lanes[0].depth)
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
