// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import "math"

// The order of a queue is a treap: a search tree by order, a heap by random priority. Each node summarizes its
// subtree, so that "does anything behind me lose its place in time" is answered in O(log n).

// less orders waiting calls: committed before, then by latest start, then by coming.
func (n *node) less(m *node) bool {
	if a, b := n.call.rank(), m.call.rank(); a != b {
		return a < b
	}
	if n.latest != m.latest {
		return n.latest < m.latest
	}
	return n.order < m.order
}

func (n *node) leftmost() *node {
	if n == nil {
		return nil
	}
	for n.left != nil {
		n = n.left
	}
	return n
}

func (n *node) rightmost() *node {
	if n == nil {
		return nil
	}
	for n.right != nil {
		n = n.right
	}
	return n
}

// pull recomputes the summaries of n from its children's.
func (n *node) pull() {
	n.soonest, n.yielding = n.startBy, 0
	if n.mayYield() {
		n.yielding = 1
	}
	if n.left != nil {
		n.soonest = min(n.soonest, n.left.soonest)
		n.yielding += n.left.yielding
	}
	if n.right != nil {
		n.soonest = min(n.soonest, n.right.soonest)
		n.yielding += n.right.yielding
	}
	for k := range n.parts {
		n.pullPart(k)
	}
}

func (n *node) pullPart(k int) {
	sum, slack := 0.0, math.Inf(1)
	if n.left != nil {
		sum, slack = n.left.parts[k].sum, n.left.parts[k].slack
	}
	p := &n.parts[k]
	sum += n.call.holds[k].amount
	slack = min(slack, p.worth-sum)
	if n.right != nil {
		slack = min(slack, n.right.parts[k].slack-sum)
		sum += n.right.parts[k].sum
	}
	p.sum, p.slack = sum, slack
}

// insert adds m to the tree at n and returns the new root.
func (n *node) insert(m *node) *node {
	switch {
	case n == nil:
		m.left, m.right = nil, nil
		m.pull()
		return m
	case m.priority > n.priority:
		m.left, m.right = n.split(m)
		m.pull()
		return m
	case m.less(n):
		n.left = n.left.insert(m)
	default:
		n.right = n.right.insert(m)
	}
	n.pull()
	return n
}

// split parts the tree at n into what comes before m and the rest.
func (n *node) split(m *node) (before, rest *node) {
	if n == nil {
		return nil, nil
	}
	if m.less(n) {
		before, n.left = n.left.split(m)
		n.pull()
		return before, n
	}
	n.right, rest = n.right.split(m)
	n.pull()
	return n, rest
}

// remove takes m, which is in the tree at n, out and returns the new root.
func (n *node) remove(m *node) *node {
	switch {
	case n == m:
		root := n.left.merge(n.right)
		n.left, n.right = nil, nil
		return root
	case m.less(n):
		n.left = n.left.remove(m)
	default:
		n.right = n.right.remove(m)
	}
	n.pull()
	return n
}

// merge joins n and m, all of n before all of m.
func (n *node) merge(m *node) *node {
	switch {
	case n == nil:
		return m
	case m == nil:
		return n
	case n.priority > m.priority:
		n.right = n.right.merge(m)
		n.pull()
		return n
	default:
		m.left = n.merge(m.left)
		m.pull()
		return m
	}
}

// sum is the cost of the whole tree on the k-th bucket.
func (n *node) sum(k int) float64 {
	if n == nil {
		return 0
	}
	return n.parts[k].sum
}

// measure fills before with the cost of all that m would come after, and after with the least slack of all
// that it would come before; m is not in the tree.
func (n *node) measure(m *node, before, after []float64) {
	for k := range before {
		before[k], after[k] = 0, math.Inf(1)
	}
	for n != nil {
		left := m.less(n)
		for k := range before {
			sum := before[k] + n.left.sum(k) + n.call.holds[k].amount
			if !left {
				before[k] = sum
				continue
			}
			after[k] = min(after[k], n.parts[k].worth-sum)
			if n.right != nil {
				after[k] = min(after[k], n.right.parts[k].slack-sum)
			}
		}
		if left {
			n = n.left
		} else {
			n = n.right
		}
	}
}

// each visits the tree in order.
func (n *node) each(visit func(*node)) {
	if n != nil {
		n.left.each(visit)
		visit(n)
		n.right.each(visit)
	}
}
