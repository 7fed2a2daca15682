// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import "math"

// supply is how much lane i can count on having taken from the bucket within t seconds, for calls of which the
// last one costs c: its own rate is sure, and what others leave counts too unless c does not fit beside what
// idle lanes keep.
func (b *bucket) supply(v *view, t, c float64) float64 {
	a := &b.accounts[v.lane]
	own := min(a.credit+a.share*b.Rate*t, b.level+b.Rate*t)
	if c+b.othersHold(v.lane) > b.Capacity+b.eps {
		return own
	}
	left, _ := b.free(v, t)
	return max(own, left)
}

// supplyAfter is the time after which supply, as a call to be accepted sees it, has reached need.
func (b *bucket) supplyAfter(i int, need, c float64) float64 {
	own := b.ownAfter(i, need)
	if own == 0 || c+b.othersHold(i) > b.Capacity+b.eps {
		return own
	}
	return min(own, b.freeAfter(&view{lane: i, of: (*bucket).accepting}, need))
}

// timeToFit is when one bucket would serve the call if it came next in its lane.
func (s *Scheduler) timeToFit(c *Call, b *bucket) float64 {
	for _, h := range c.holds {
		if h.bucket == b {
			return b.supplyAfter(c.home().index, h.amount+s.aside(c, b), h.amount)
		}
	}
	return 0
}

// predict is when a node that comes after `before` in its queue will start, in seconds, and the bucket it waits
// for longest. Calls of the lane's other queues count as before it.
func (s *Scheduler) predict(n *node, before []float64) (float64, *bucket) {
	q := n.queue
	i := q.lane.index
	wait := seconds(max(0, n.wake-s.clock))
	var binding *bucket
	for k, b := range q.buckets {
		if b.Kind == Slots {
			continue
		}
		c := n.call.holds[k].amount
		need := q.ahead(k, before[k]) + c
		if t := b.supplyAfter(i, need, c); t > wait || binding == nil {
			wait, binding = max(wait, t), b
		}
	}
	return wait, binding
}

// ahead is the cost on the k-th bucket of everything of the lane that goes before a place in the order.
func (q *queue) ahead(k int, before float64) float64 {
	return max(0, q.buckets[k].accounts[q.lane.index].queued-q.root.sum(k)+before)
}

// value stores what each bucket will have given the lane by the node's last start. While the rest stays as it
// is, this does not change with time: what is served, and what time brings, moves both sides alike.
func (s *Scheduler) value(n *node, of func(*bucket, int, int64) claim) {
	q := n.queue
	v := view{lane: q.lane.index, of: of}
	t := seconds(max(0, n.startBy-s.clock))
	for k, b := range q.buckets {
		if b.Kind == Slots {
			n.parts[k].worth = math.Inf(1)
			continue
		}
		n.parts[k].worth = b.accounts[v.lane].served + b.supply(&v, t, n.call.holds[k].amount)
	}
}

// spare is the least that calls of this queue with the given least slack could lose on the k-th bucket and still
// start in time.
func (q *queue) spare(k int, slack float64) float64 {
	a := &q.buckets[k].accounts[q.lane.index]
	return slack - a.served - (a.queued - q.root.sum(k))
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
