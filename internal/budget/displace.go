// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

// When the queues as a whole are full, the lowest priority gives way: a newcomer takes the place of calls of strictly
// lower priorities, the last in their order. Committed heads have begun to collect and retries were accepted once, so
// neither is displaced. Priority comes from the lane alone; nothing in a call changes it.

// displacedWait is what a displaced call is told at the least, in seconds: the call that took its place is waiting.
const displacedWait = 1.0

// yielding are the calls of a lane that may be displaced.
type yielding struct {
	n     int
	bytes int64
}

// mayYield says whether a waiting call that is not the head may be displaced.
func (n *node) mayYield() bool { return !n.call.retried && n.call.seq == 0 }

// order puts a node among those that may go.
func (q *queue) order(n *node) {
	q.root = q.root.insert(n)
	if n.mayYield() {
		q.lane.yielding.n++
		q.lane.yielding.bytes += n.call.Bytes
	}
}

// unorder takes it out again.
func (q *queue) unorder(n *node) {
	q.root = q.root.remove(n)
	if n.mayYield() {
		q.lane.yielding.n--
		q.lane.yielding.bytes -= n.call.Bytes
	}
}

// excess is by how much the call would exceed the bounds of all lanes together.
func (s *Scheduler) excess(c *Call) (depth int, bytes int64) {
	if s.maxDepth > 0 {
		depth = s.depth + 1 - s.maxDepth
	}
	if s.maxBytes > 0 {
		bytes = s.bytes + c.Bytes - s.maxBytes
	}
	return depth, bytes
}

// hasRoom says whether the call may wait within the bounds of all lanes together, if need be in others' place.
func (s *Scheduler) hasRoom(c *Call) bool {
	depth, bytes := s.excess(c)
	for _, l := range s.lanes {
		if depth <= 0 && bytes <= 0 {
			return true
		}
		if l.group == c.lane.group && l.Priority < c.lane.Priority {
			depth -= l.yielding.n
			bytes -= l.yielding.bytes
		}
	}
	return depth <= 0 && bytes <= 0
}

// displace makes the room that hasRoom found; it reports whether somebody had to go.
func (s *Scheduler) displace(c *Call) bool {
	moved := false
	for {
		depth, bytes := s.excess(c)
		if depth <= 0 && bytes <= 0 {
			return moved
		}
		n := s.lastBelow(c.lane)
		if n == nil {
			return moved
		}
		s.giveUp(n)
		moved = true
	}
}

// lastBelow is who is displaced first: of the lowest priority below this one, the last in order.
func (s *Scheduler) lastBelow(l *lane) *node {
	var last *node
	for _, q := range s.active {
		if q.lane.group != l.group || q.lane.Priority >= l.Priority || last != nil && q.lane.Priority > last.queue.lane.Priority {
			continue
		}
		n := q.root.lastToYield()
		if n != nil && (last == nil || q.lane.Priority < last.queue.lane.Priority || last.less(n)) {
			last = n
		}
	}
	return last
}

// lastToYield is the last in the tree's order that may be displaced.
func (n *node) lastToYield() *node {
	for n != nil && n.yielding > 0 {
		switch {
		case n.right != nil && n.right.yielding > 0:
			n = n.right
		case n.mayYield():
			return n
		default:
			n = n.left
		}
	}
	return nil
}

// giveUp refuses a displaced call; Advance tells its owner. It fits behind those that stay.
func (s *Scheduler) giveUp(n *node) {
	c := n.call
	s.leave(c)
	wait, b := s.alone(c)
	s.refuse(c, ReasonDisplaced, b, max(wait, displacedWait))
	c.home().displaced++
	s.done = append(s.done, c)
}
