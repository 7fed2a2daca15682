// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

// The sleepers of a queue are a binary heap by wake time, with each node knowing its index.

func (q *queue) pushSleeper(n *node) {
	n.heap = len(q.sleepers)
	q.sleepers = append(q.sleepers, n)
	q.siftUp(n.heap)
}

func (q *queue) removeSleeper(n *node) {
	i, last := n.heap, len(q.sleepers)-1
	q.swapSleepers(i, last)
	q.sleepers[last] = nil
	q.sleepers = q.sleepers[:last]
	if i < last {
		q.siftDown(i)
		q.siftUp(i)
	}
}

func (q *queue) swapSleepers(i, j int) {
	s := q.sleepers
	s[i], s[j] = s[j], s[i]
	s[i].heap, s[j].heap = i, j
}

func (q *queue) siftUp(i int) {
	for i > 0 {
		up := (i - 1) / 2
		if q.sleepers[up].wake <= q.sleepers[i].wake {
			return
		}
		q.swapSleepers(i, up)
		i = up
	}
}

func (q *queue) siftDown(i int) {
	for {
		down := 2*i + 1
		if down >= len(q.sleepers) {
			return
		}
		if right := down + 1; right < len(q.sleepers) && q.sleepers[right].wake < q.sleepers[down].wake {
			down = right
		}
		if q.sleepers[i].wake <= q.sleepers[down].wake {
			return
		}
		q.swapSleepers(i, down)
		i = down
	}
}

// rouse moves the sleepers whose time has come into the order.
func (s *Scheduler) rouse(q *queue) {
	for len(q.sleepers) > 0 && q.sleepers[0].wake <= s.clock {
		n := q.sleepers[0]
		q.removeSleeper(n)
		n.place = ordered
		q.order(n)
	}
	s.promote(q)
}

// wake is when the call may go at the earliest.
func (s *Scheduler) wake(c *Call) int64 {
	if c.NotBefore.IsZero() {
		return 0
	}
	return s.since(c.NotBefore)
}
