// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import "math"

// look fills s.views with the queue's buckets.
func (s *Scheduler) look(q *queue, as stance) {
	for len(s.views) < len(q.buckets) {
		s.views = append(s.views, view{})
	}
	for k, b := range q.buckets {
		s.refill(b)
		b.look(&s.views[k], q.lane.index, as)
	}
}

// timeToFit is when one bucket would serve a call of the given cost that comes after so much of its lane.
func (s *Scheduler) timeToFit(c *Call, h *hold, ahead float64) float64 {
	s.refill(h.bucket)
	h.bucket.look(&s.single, c.home().index, accepting)
	return s.single.supplyAfter(h.amount+ahead, h.amount)
}

// predict is when a node that comes after `before` in its queue will start, in seconds, and the bucket it waits
// for longest. Calls of the lane's other queues count as before it. The views are of the queue.
func (s *Scheduler) predict(n *node, before []float64) (float64, *bucket) {
	q := n.queue
	wait := seconds(max(0, n.wake-s.clock))
	var binding *bucket
	for k, b := range q.buckets {
		if b.Kind == Slots {
			continue
		}
		c := n.call.holds[k].amount
		t := s.views[k].supplyAfter(q.ahead(k, before[k])+c, c)
		if n.call.Granted {
			t = after(c-b.level, b.Rate, b.eps)
		}
		if t > wait || binding == nil {
			wait, binding = max(wait, t), b
		}
	}
	return wait, binding
}

// ahead is the cost on the k-th bucket of everything of the lane that goes before a place in the order.
func (q *queue) ahead(k int, before float64) float64 {
	return max(0, q.buckets[k].account(q.lane.index).queued.sum-q.root.sum(k)+before)
}

// by is the start that matters: who is accepted is to start a margin early, who is given up starts late even so.
func (n *node) by(as stance) int64 {
	if as == accepting {
		return n.promise
	}
	return n.startBy
}

// value stores what each bucket will have given the lane by the node's start, by the views. While the rest
// stays as it is, this does not change with time: what is served, and what time brings, moves both sides alike. A call that may
// start at any time is worth waiting for, whatever comes.
func (s *Scheduler) value(n *node, as stance) {
	t := seconds(max(0, n.by(as)-s.clock))
	for k, b := range n.queue.buckets {
		n.parts[k].worth = math.Inf(1)
		if b.Kind != Slots && !n.call.Granted && n.startBy < forever {
			n.parts[k].worth = s.views[k].served + s.views[k].supply(t, n.call.holds[k].amount)
		}
	}
}

// spare is the least that calls of this queue with the given least slack could lose on the k-th bucket and still
// start in time.
func (q *queue) spare(k int, slack float64) float64 {
	a := q.buckets[k].account(q.lane.index)
	return slack - a.served - (a.queued.sum - q.root.sum(k))
}

// harms says whether one more call before those with the given slacks makes one of them late, here or in another
// queue of the lane.
func (q *queue) harms(n *node, after []float64) bool {
	for k, b := range q.buckets {
		c := n.call.holds[k].amount
		if q.spare(k, after[k]) < c-b.eps {
			return true
		}
		for _, other := range q.lane.queues {
			if other == q || other.root == nil {
				continue
			}
			if j := other.find(b); j >= 0 && other.spare(j, other.root.parts[j].slack) < c-b.eps {
				return true
			}
		}
	}
	return false
}
