// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import "time"

// Snapshot is a scheduler at one time.
type Snapshot struct {
	Buckets []BucketSnapshot
	Lanes   []LaneSnapshot
}

// BucketSnapshot is one bucket.
type BucketSnapshot struct {
	ID BucketID
	Bucket
	Level float64
	// Reserved is what admitted calls hold.
	Reserved float64
	// HeldForLanes is all lanes' credit: a lane may borrow what exceeds the others' part of it.
	HeldForLanes float64
	// Spent and Offered accumulate: what was settled, and what was asked for.
	Spent, Offered float64
	// Binding says that the call which is next in some queue lacks this bucket.
	Binding bool
}

// LaneSnapshot is one lane.
type LaneSnapshot struct {
	Name       string
	Queued     int
	Bytes      int64
	OldestWait time.Duration
	// MaxDepth is how many calls may wait here.
	MaxDepth int
	// Paused says that the lane borrows nothing and takes no more waiting calls, because the queues are nearly full
	// and calls of a higher priority wait.
	Paused bool
	// Admitted, Refused and Cancelled accumulate. Borrowed is the part of the admitted that went by what nobody
	// claimed, Displaced the part of the refused that made room for a higher priority.
	Admitted, Refused, Cancelled, Borrowed, Displaced uint64
}

// Snapshot fills into. Removed buckets are left out.
func (s *Scheduler) Snapshot(now time.Time, into *Snapshot) {
	s.tick(now)
	into.Buckets = into.Buckets[:0]
	for _, b := range s.slots {
		if b == nil || b.gone {
			continue
		}
		s.refill(b)
		into.Buckets = append(into.Buckets, b.snapshot())
		into.Buckets[len(into.Buckets)-1].Binding = s.binding(b)
	}
	into.Lanes = into.Lanes[:0]
	for _, l := range s.lanes {
		into.Lanes = append(into.Lanes, LaneSnapshot{
			Name: l.Name, Queued: l.depth, Bytes: l.bytes, OldestWait: s.oldestWait(l), MaxDepth: l.maxDepth(), Paused: s.paused(l),
			Admitted: l.admitted, Refused: l.refused, Cancelled: l.cancelled, Borrowed: l.borrowed, Displaced: l.displaced,
		})
	}
}

func (b *bucket) snapshot() BucketSnapshot {
	out := BucketSnapshot{
		ID: b.id, Bucket: b.Bucket, Level: b.level, Reserved: b.reserved,
		Spent: b.spent, Offered: b.offered,
	}
	for i := range b.accounts {
		out.HeldForLanes += b.accounts[i].positive()
	}
	return out
}

// binding says whether some candidate lacks the bucket.
func (s *Scheduler) binding(b *bucket) bool {
	for _, q := range s.active {
		k := q.find(b)
		n := q.candidate(s.clock)
		if k >= 0 && n != nil && s.testHold(n.call, &n.call.holds[k]) == lacks {
			return true
		}
	}
	return false
}

// oldestWait is how long the earliest of the lane's waiting calls has been there.
func (s *Scheduler) oldestWait(l *lane) time.Duration {
	oldest := s.clock
	visit := func(n *node) { oldest = min(oldest, s.since(n.call.Arrival)) }
	for _, q := range l.queues {
		if q.head != nil {
			visit(q.head)
		}
		q.root.each(visit)
		for _, n := range q.sleepers {
			visit(n)
		}
	}
	return time.Duration(s.clock - oldest)
}
