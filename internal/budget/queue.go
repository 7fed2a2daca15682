// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

// queue holds a lane's waiting calls that need the same set of buckets.
type queue struct {
	lane    *lane
	buckets []*bucket
	// head is the committed call: it collects credit and is not overtaken here. It may be asleep.
	head *node
	// root holds the others that may go, by commitment and then latest start.
	root *node
	// sleepers are retries before their time, soonest first (a binary heap).
	sleepers []*node
	n        int
	// stale says that stored predictions may be wrong since valuedAt.
	stale    bool
	valuedAt int64
	// stuck is the last round in which the candidate lacked something, yielded the last step in which it could borrow and
	// left it to another.
	stuck, yielded uint64
}

type place uint8

const (
	nowhere place = iota
	first
	ordered
	asleep
)

// node is a waiting call's place. Nodes are reused.
type node struct {
	call     *Call
	queue    *queue
	place    place
	heap     int
	priority uint32

	latest  int64
	order   uint64
	startBy int64
	// promise is when an accepted call is to start by, a margin before startBy.
	promise int64
	wake    int64

	left, right *node
	// soonest is the smallest startBy of the subtree, yielding how many of it may be displaced.
	soonest  int64
	yielding int
	parts    []part
	next     *node
}

// part summarizes a subtree on one bucket. A call's worth is what the bucket will have given its lane by the
// call's last start, counted like account.served; slack is worth less all that goes before and itself.
type part struct {
	worth, sum, slack float64
}

func (q *queue) serves(c *Call) bool {
	if len(q.buckets) != len(c.holds) {
		return false
	}
	for k, b := range q.buckets {
		if b != c.holds[k].bucket {
			return false
		}
	}
	return true
}

func (q *queue) rekey(c *Call) {
	q.buckets = q.buckets[:0]
	for _, h := range c.holds {
		q.buckets = append(q.buckets, h.bucket)
	}
}

func (q *queue) find(b *bucket) int {
	for k := range q.buckets {
		if q.buckets[k] == b {
			return k
		}
	}
	return -1
}

// candidate is the call that may go next: the head, or while it sleeps the first of the others.
func (q *queue) candidate(clock int64) *node {
	if q.head != nil && q.head.wake <= clock {
		return q.head
	}
	return q.root.leftmost()
}

// awake says whether some call of the queue may go by now.
func (q *queue) awake(clock int64) bool {
	return q.candidate(clock) != nil || len(q.sleepers) > 0 && q.sleepers[0].wake <= clock
}

// join adds a node that has been valued.
func (s *Scheduler) join(q *queue, n *node) {
	c := n.call
	if q.n == 0 {
		s.active = append(s.active, q)
	}
	if l := q.lane; l.depth == 0 {
		// Who was idle has saved up no turns.
		l.v = max(l.v, l.class.v)
	}
	s.joinGroup(q.lane.group)
	q.n++
	s.depth++
	s.bytes += c.Bytes
	q.lane.depth++
	q.lane.bytes += c.Bytes
	for k, b := range q.buckets {
		b.account(q.lane.index).queued.add(c.holds[k].amount)
	}
	switch {
	case n.wake > s.clock && q.head != nil:
		n.place = asleep
		q.pushSleeper(n)
	case n.wake > s.clock:
		s.commit(q, n)
	default:
		n.place = ordered
		q.order(n)
	}
	s.promote(q)
}

// leave takes a waiting call out of its queue and lets the next one be the head.
func (s *Scheduler) leave(c *Call) {
	n := c.node
	q := n.queue
	i := q.lane.index
	for _, b := range q.buckets {
		s.refill(b)
	}
	switch n.place {
	case first:
		q.head = nil
		q.lane.heads--
		for k, b := range q.buckets {
			b.account(i).committed.remove(c.holds[k].amount)
			if c.holds[k].amount > b.Capacity {
				s.reneed(b)
			}
		}
	case ordered:
		q.unorder(n)
	case asleep:
		q.removeSleeper(n)
	case nowhere:
	}
	q.n--
	q.lane.depth--
	q.lane.group.depth--
	q.lane.bytes -= c.Bytes
	s.depth--
	s.bytes -= c.Bytes
	s.watch()
	for k, b := range q.buckets {
		b.account(i).queued.remove(c.holds[k].amount)
	}
	if q.n == 0 {
		s.deactivate(q)
	}
	s.promote(q)
	for _, b := range q.buckets {
		if b.clip(b.account(i)) {
			s.round++
		}
		b.trim()
	}
	c.node = nil
	s.recycle(n)
}

func (s *Scheduler) deactivate(q *queue) {
	for i := range s.active {
		if s.active[i] == q {
			last := len(s.active) - 1
			s.active[i] = s.active[last]
			s.active[last] = nil
			s.active = s.active[:last]
			return
		}
	}
}

// promote makes the first of the order the head when there is none; if all sleep, who wakes first, so that it goes on
// collecting.
func (s *Scheduler) promote(q *queue) {
	var n *node
	switch {
	case q.head != nil:
		return
	case q.root != nil:
		n = q.root.leftmost()
		q.unorder(n)
	case len(q.sleepers) > 0:
		n = q.sleepers[0]
		q.removeSleeper(n)
	default:
		return
	}
	s.commit(q, n)
}

// commit makes a node the head: from now on its lane collects up to its cost.
func (s *Scheduler) commit(q *queue, n *node) {
	if n.call.seq == 0 {
		s.commits++
		n.call.seq = s.commits
	}
	n.place = first
	q.head = n
	q.lane.heads++
	for k, b := range q.buckets {
		// Up to now the credit grew only to the old ceiling.
		s.refill(b)
		amount := n.call.holds[k].amount
		b.account(q.lane.index).committed.add(amount)
		if amount > b.Capacity {
			b.need = max(b.need, amount)
		}
	}
}

func (s *Scheduler) newNode(c *Call, q *queue) *node {
	n := s.spare
	if n == nil {
		n = &node{}
	} else {
		s.spare = n.next
	}
	s.orders++
	s.random ^= s.random << 13
	s.random ^= s.random >> 17
	s.random ^= s.random << 5
	*n = node{call: c, queue: q, priority: s.random, order: s.orders, parts: n.parts[:0]}
	for range q.buckets {
		n.parts = append(n.parts, part{})
	}
	return n
}

func (s *Scheduler) recycle(n *node) {
	*n = node{parts: n.parts[:0], next: s.spare}
	s.spare = n
}
