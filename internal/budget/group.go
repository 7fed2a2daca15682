// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

// Groups are owners of lanes who share what nobody claims by max-min: whoever has borrowed least for its weight goes first,
// whatever its lanes' priorities are and however large its calls. What a group takes out of its own shares is not borrowed.

// group is one owner. Lanes that name none are one together.
type group struct {
	Group
	// v is its virtual time: seconds of the whole rate that it has borrowed, divided by its weight.
	v float64
	// depth counts its waiting calls.
	depth int
}

// setGroups keeps the virtual times of groups that stay.
func (s *Scheduler) setGroups(specs []Group) {
	old := s.groups
	s.groups = nil
	for _, spec := range specs {
		if s.groupNamed(spec.Name) == nil {
			s.groups = append(s.groups, keep(old, spec))
		}
	}
	s.formerGroups = old
}

func keep(old []*group, spec Group) *group {
	if spec.Weight = finite(spec.Weight); spec.Weight == 0 {
		spec.Weight = 1
	}
	spec.Weight = min(max(spec.Weight, 1/maxWeight), maxWeight)
	spec.Unlent = min(finite(spec.Unlent), 1)
	for _, g := range old {
		if g.Name == spec.Name {
			g.Group = spec
			return g
		}
	}
	return &group{Group: spec}
}

func (s *Scheduler) groupNamed(name string) *group {
	for _, g := range s.groups {
		if g.Name == name {
			return g
		}
	}
	return nil
}

// groupOf is a lane's group, which exists from now on.
func (s *Scheduler) groupOf(name string) *group {
	g := s.groupNamed(name)
	if g == nil {
		g = keep(s.formerGroups, Group{Name: name})
		s.groups = append(s.groups, g)
	}
	return g
}

// before says whether a group borrows before another one.
func (g *group) before(h *group) bool {
	if g.v != h.v {
		return g.v < h.v
	}
	return g.Name < h.Name
}

// joinGroup counts a call that waits. Who was idle has saved up no turns.
func (s *Scheduler) joinGroup(g *group) {
	if g.depth == 0 {
		g.v = max(g.v, s.groupTime)
	}
	g.depth++
}

// lend charges a group with what a call takes beyond the lane's own credit.
func (s *Scheduler) lend(c *Call) {
	if len(s.groups) < 2 {
		return
	}
	l := c.home()
	g, part := l.group, 0.0
	for k := range c.holds {
		h := &c.holds[k]
		if h.bucket.Rate > 0 {
			own := max(0, h.bucket.account(l.index).credit-s.aside(c, h.bucket))
			part = max(part, (h.amount-own)/h.bucket.Rate)
		}
	}
	if g.depth == 0 {
		g.v = max(g.v, s.groupTime)
	}
	s.groupTime = max(s.groupTime, g.v)
	g.v += max(0, part) / g.Weight
}
