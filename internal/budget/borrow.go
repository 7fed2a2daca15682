// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

// class is the lanes of one group and priority, which share what they borrow by weight.
type class struct {
	group    *group
	priority int32
	// v is the virtual time of the latest borrower: where a lane starts that was idle.
	v float64
}

// classify finds the lane's class among the new ones, which keep the virtual time of the old. A lane that comes from
// another class starts where this one is.
func (s *Scheduler) classify(l *lane, old []*class) {
	for _, known := range [2][]*class{s.classes, old} {
		for _, k := range known {
			if k.priority == l.Priority && k.group == l.group {
				s.joinClass(l, k)
				return
			}
		}
	}
	s.joinClass(l, &class{group: l.group, priority: l.Priority})
}

func (s *Scheduler) joinClass(l *lane, k *class) {
	if l.class != k {
		l.class, l.v = k, k.v
	}
	for _, known := range s.classes {
		if known == k {
			return
		}
	}
	s.classes = append(s.classes, k)
}

// borrow advances the lane's virtual time by the call's dominant part of the whole: v += max_b c_b/(R_b·w). Slots
// have no rate and are left out.
func (s *Scheduler) borrow(c *Call) {
	s.lend(c)
	l := c.home()
	l.v = max(l.v, l.class.v)
	l.class.v = l.v
	part := 0.0
	for _, h := range c.holds {
		if h.bucket.Rate > 0 {
			part = max(part, h.amount/h.bucket.Rate)
		}
	}
	l.v += part / l.Weight
	l.borrowed++
}

// before orders candidates: the entitled first, oldest commitment first; then borrowers by their groups' virtual time, in
// a group by priority, then by virtual time.
func (f fit) before(c *Call, g fit, d *Call) bool {
	switch {
	case f != g:
		return f > g
	case f == borrows && c.lane.group != d.lane.group:
		return c.lane.group.before(d.lane.group)
	case f == borrows && c.lane.Priority != d.lane.Priority:
		return c.lane.Priority > d.lane.Priority
	case f == borrows && c.lane.v != d.lane.v:
		return c.lane.v < d.lane.v
	default:
		return c.rank() < d.rank()
	}
}
