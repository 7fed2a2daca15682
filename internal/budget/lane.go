// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import "time"

// defaultDepth bounds a lane that states no depth.
const defaultDepth = 1024

// maxQueues bounds the sets of buckets that calls of one lane can wait for at the same time.
const maxQueues = 32

// lane is a class of calls with a sure share of every bucket.
type lane struct {
	Lane
	index  int
	queues []*queue
	depth  int
	bytes  int64
	// yielding are those that may be displaced.
	yielding yielding
	// heads counts committed heads.
	heads int
	// v is the virtual time: seconds of the whole rate that the lane has borrowed, divided by its weight.
	v     float64
	class *class
	group *group
	// into is the lane that took over when this one was removed.
	into *lane

	admitted, refused, cancelled, borrowed, displaced uint64
}

// maxWeight keeps virtual times within what a float counts exactly enough.
const maxWeight = 1e6

// lanes makes a configuration's lanes usable: at least one, shares in 0 to 1 and together at most 1,
// weights above 0.
func lanes(in []Lane) []Lane {
	if len(in) == 0 {
		return []Lane{{Name: "default", Share: 1, Weight: 1}}
	}
	out := append([]Lane(nil), in...)
	sum := 0.0
	for i := range out {
		out[i].Share = min(finite(out[i].Share), 1)
		if out[i].Weight = finite(out[i].Weight); out[i].Weight == 0 {
			out[i].Weight = 1
		}
		out[i].Weight = min(max(out[i].Weight, 1/maxWeight), maxWeight)
		sum += out[i].Share
	}
	if sum > 1 {
		for i := range out {
			out[i].Share /= sum
		}
	}
	return out
}

// home is the lane the call belongs to now.
func (c *Call) home() *lane {
	for c.lane.into != nil {
		c.lane = c.lane.into
	}
	return c.lane
}

func (l *lane) maxDepth() int {
	if l.MaxDepth == 0 {
		return defaultDepth
	}
	return max(l.MaxDepth, 0)
}

// full says whether another call may not wait here.
func (l *lane) full(c *Call) bool {
	return l.depth >= l.maxDepth() || l.MaxBytes > 0 && l.bytes+c.Bytes > l.MaxBytes
}

// queueOf returns the queue of the call's set of buckets; nil when there are too many sets.
func (l *lane) queueOf(c *Call) *queue {
	var free *queue
	for _, q := range l.queues {
		if q.n == 0 {
			free = q
			continue
		}
		if q.serves(c) {
			return q
		}
	}
	if free == nil {
		if len(l.queues) >= maxQueues {
			return nil
		}
		free = &queue{lane: l}
		l.queues = append(l.queues, free)
	}
	free.rekey(c)
	return free
}

// startBy is when the call must have started, in the scheduler's time.
func (s *Scheduler) startBy(c *Call) int64 {
	by := forever
	if !c.Deadline.IsZero() {
		by = s.since(c.Deadline) - int64(c.CallTime)
	}
	if wait := c.home().MaxWait; wait > 0 {
		by = min(by, s.since(c.Arrival)+int64(wait))
	}
	return by
}

// maxMargin keeps a margin from refusing everything.
const maxMargin = 0.5

// time sets a node's times.
func (s *Scheduler) time(n *node) {
	n.startBy, n.wake = s.startBy(n.call), s.wake(n.call)
	n.promise = n.startBy
	if n.startBy < forever && !n.call.retried {
		n.promise -= int64(s.margin * float64(max(0, n.startBy-s.since(n.call.Arrival))))
	}
}

// latest is when the call must start collecting at its lane's own rate: the order within the queue. Calls that may start at
// any time go as they came: else the small ones among them would never go.
func (c *Call) latest(startBy int64) int64 {
	if startBy >= forever {
		return forever
	}
	need := 0.0
	i := c.home().index
	for _, h := range c.holds {
		if rate := h.bucket.account(i).share * h.bucket.Rate; rate > 0 {
			need = max(need, h.amount/rate)
		}
	}
	return startBy - int64(min(need, maxSeconds)*1e9)
}

const (
	// forever is far from the ends of int64, so that sums of two do not overflow.
	forever    = int64(1) << 61
	maxSeconds = 1e9
)

// since converts a time to the scheduler's own, bounded.
func (s *Scheduler) since(t time.Time) int64 {
	return min(max(int64(t.Sub(s.epoch)), -forever), forever)
}
