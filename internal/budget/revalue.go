// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

// Stored predictions go stale when another lane's calls begin to wait, a level is lowered, more is spent than
// was reserved, or the configuration changes. Then a queue is valued again, and calls that can no longer start
// in time are told so at once. As this walks the queue it is done at most every few milliseconds, the longer
// the queue the more rarely.
const (
	revalueEvery   = int64(20e6)
	revaluePerCall = int64(50e3)
)

// stir marks the other lanes' queues that need one of the call's buckets.
func (s *Scheduler) stir(c *Call) {
	if s.patient {
		return
	}
	for _, q := range s.active {
		if q.stale || q.lane == c.lane {
			continue
		}
		for k := range c.holds {
			if q.find(c.holds[k].bucket) >= 0 {
				q.stale = true
				break
			}
		}
	}
}

// stirBucket marks all queues that need the bucket.
func (s *Scheduler) stirBucket(b *bucket) {
	if s.patient {
		return
	}
	for _, q := range s.active {
		if q.find(b) >= 0 {
			q.stale = true
		}
	}
}

func (q *queue) revalueAt() int64 {
	return q.valuedAt + revalueEvery + revaluePerCall*int64(q.n)
}

// refresh brings the stored predictions of a lane up to date where it is time to, or now; it reports whether it did.
func (s *Scheduler) refresh(l *lane, now bool) bool {
	done := false
	for _, q := range l.queues {
		if q.n > 0 && (s.clock >= q.revalueAt() || now && s.clock > q.valuedAt) {
			s.revalue(q, accepting)
			done = true
		}
	}
	return done
}

func (s *Scheduler) revalue(q *queue, as stance) {
	q.valuedAt, q.stale = s.clock, false
	s.look(q, as)
	s.revalueTree(q.root, as)
}

func (s *Scheduler) revalueTree(n *node, as stance) {
	if n != nil {
		s.revalueTree(n.left, as)
		s.revalueTree(n.right, as)
		s.value(n, as)
		n.pull()
	}
}

// review values a queue again and refuses every call that can no longer start in time, first to last, so that
// each refusal helps the calls after it. It gives up late: where calls of other lanes that may yet come make the
// difference, an accepted call stays.
func (s *Scheduler) review(q *queue) {
	s.revalue(q, accepting)
	if s.headInTime(q, accepting) && q.doomed(q.root) == nil {
		return
	}
	s.revalue(q, pruning)
	for !s.headInTime(q, pruning) {
		s.drop(q.head, ReasonDeadline, nil)
		s.look(q, pruning)
	}
	for n := q.doomed(q.root); n != nil; n = q.doomed(q.root) {
		s.drop(n, ReasonDeadline, nil)
	}
	s.revalue(q, accepting)
}

// headInTime says whether the head, if there is one, still starts in time by the views.
func (s *Scheduler) headInTime(q *queue, as stance) bool {
	n := q.head
	if n == nil || n.call.Granted || n.startBy >= forever {
		return true
	}
	t := seconds(max(0, n.by(as)-s.clock))
	for k, b := range q.buckets {
		c := n.call.holds[k].amount
		if b.Kind != Slots && s.views[k].supply(t, c)+b.eps < c {
			return false
		}
	}
	return true
}

// doomed finds the first call in order that has less than no slack on some bucket.
func (q *queue) doomed(n *node) *node {
	var found *node
	for k, b := range q.buckets {
		if m := q.doomedOn(n, k, -b.eps); m != nil && (found == nil || m.less(found)) {
			found = m
		}
	}
	return found
}

func (q *queue) doomedOn(n *node, k int, least float64) *node {
	before := 0.0
	for n != nil && q.spare(k, n.parts[k].slack-before) < least {
		sum := before + n.left.sum(k) + n.call.holds[k].amount
		switch {
		case n.left != nil && q.spare(k, n.left.parts[k].slack-before) < least:
			n = n.left
		case q.spare(k, n.parts[k].worth-sum) < least:
			return n
		default:
			before, n = sum, n.right
		}
	}
	return nil
}

// drop refuses a waiting call, for the bucket that keeps it longest if none is named; Advance tells its owner.
func (s *Scheduler) drop(n *node, reason Reason, b *bucket) {
	c := n.call
	if b == nil {
		b = s.worst(n)
	}
	wait := 0.0
	if b != nil {
		wait = s.timeToFit(c, c.holding(b), s.aside(c, b))
	}
	s.leave(c)
	s.refuse(c, reason, b, wait)
	s.done = append(s.done, c)
}

// worst is the bucket that keeps a waiting call longest.
func (s *Scheduler) worst(n *node) *bucket {
	c := n.call
	wait := -1.0
	var worst *bucket
	for k := range c.holds {
		h := &c.holds[k]
		t := 0.0
		switch {
		case h.bucket.Kind != Slots:
			t = s.timeToFit(c, h, s.aside(c, h.bucket))
		case s.testHold(c, h) == lacks:
			t = 1e-9
		}
		if t > wait {
			wait, worst = t, h.bucket
		}
	}
	return worst
}
