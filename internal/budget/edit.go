// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"slices"
	"time"
)

// Apply changes the configuration. No edit refills: a smaller capacity scales a positive level, a larger one
// keeps it, debt is kept as it is, of what counts in another unit the part of the capacity is kept that is left or owed, a removed limit's level is remembered for one window. Lanes are matched by
// name; calls that wait in a lane that is gone move to the default one. All waiting calls are looked at again:
// what became impossible or late is told by the next Advance. Buckets made by Ensure stay.
func (s *Scheduler) Apply(cfg Config, now time.Time) {
	s.tick(now)
	waiting := s.suspend()
	s.margin = min(finite(cfg.Margin), maxMargin)
	s.maxDepth, s.maxBytes = cfg.MaxDepth, cfg.MaxBytes
	s.patient = cfg.Patient
	s.setGroups(cfg.Groups)
	s.setLanes(lanes(cfg.Lanes))
	s.setBuckets(cfg.Buckets)
	s.resume(waiting, cfg.Reprice)
	s.forget()
}

// setLanes replaces the lanes and carries every bucket's accounts over by name.
func (s *Scheduler) setLanes(specs []Lane) {
	old, classes := s.lanes, s.classes
	s.lanes, s.classes, s.lanePlaces = make([]*lane, len(specs)), nil, 0
	from := make([]int, len(specs))
	kept := make(map[*lane]bool, len(old))
	for i, spec := range specs {
		from[i] = -1
		l := &lane{}
		for j, known := range old {
			if known.Name == spec.Name && !kept[known] {
				l, from[i] = known, j
				break
			}
		}
		kept[l] = true
		l.Lane, l.index = spec, i
		l.group = s.groupOf(spec.Group)
		s.classify(l, classes)
		s.lanes[i] = l
		s.lanePlaces += l.maxDepth()
	}
	for _, l := range old {
		if !kept[l] {
			l.into = s.lanes[len(s.lanes)-1]
		}
	}
	for _, b := range s.slots {
		if b != nil {
			b.rebook(s.lanes, from)
			b.grouped(s.lanes)
		}
	}
}

// rebook moves the accounts of a bucket to the new lanes, of which the i-th was the from[i]-th. What removed
// lanes have in use is the default's; their credit is nobody's.
func (b *bucket) rebook(lanes []*lane, from []int) {
	old, places := b.accounts, b.places
	b.open(lanes)
	stays := make([]bool, len(old))
	for i, l := range lanes {
		was := -1
		if from[i] >= 0 {
			was = placeIn(places, from[i])
		}
		if was < 0 && !b.names(l.Lane) {
			continue
		}
		a := b.add(i)
		if was >= 0 {
			*a, stays[was] = old[was], true
		}
		a.follow(l.Lane)
		a.share = b.shareOf(l.Lane)
	}
	var left tally
	for j := range old {
		if !stays[j] {
			left.sum, left.n = left.sum+old[j].inUse.sum, left.n+old[j].inUse.n
		}
	}
	if left.n > 0 {
		heir := &b.account(len(lanes) - 1).inUse
		heir.sum, heir.n = heir.sum+left.sum, heir.n+left.n
	}
}

// setBuckets applies the limits of a configuration.
func (s *Scheduler) setBuckets(specs []Bucket) {
	s.rename(specs)
	wanted := make(map[string]bool, len(specs))
	for _, spec := range specs {
		spec = spec.sanitize()
		if wanted[spec.Name] {
			continue
		}
		wanted[spec.Name] = true
		b := s.byName[spec.Name]
		if b == nil || b.Kind != spec.Kind || b.Unit != spec.Unit {
			b = s.succeed(b, spec)
		}
		b.pinned, b.gone = true, false
		s.relimit(b, spec)
	}
	for _, b := range s.slots {
		switch {
		case b == nil:
		case b.pinned && !b.gone && !wanted[b.Name]:
			s.remove(b)
		default:
			// The lanes' shares may have changed.
			s.relimit(b, b.Bucket)
		}
	}
}

// rename has buckets of before go by their new names: with their levels, and what is in use of them. Names may be exchanged.
func (s *Scheduler) rename(specs []Bucket) {
	to := map[*bucket]string{}
	for _, spec := range specs {
		b := s.byName[spec.Formerly]
		if b == nil || !b.pinned || b.gone || b.Kind != spec.Kind || to[b] != "" || b.stays(specs) {
			continue
		}
		to[b] = spec.Name
	}
	for b := range to {
		delete(s.byName, b.Name)
	}
	for b, name := range to {
		if other := s.byName[name]; other != nil {
			s.remove(other)
		}
		b.Name, s.byName[name] = name, b
	}
}

// stays says whether a bucket goes on by its own name.
func (b *bucket) stays(specs []Bucket) bool {
	return slices.ContainsFunc(specs, func(o Bucket) bool { return o.Name == b.Name && o.Formerly == "" })
}

// succeed makes a bucket in place of one that counts something else, if there was one.
func (s *Scheduler) succeed(old *bucket, spec Bucket) *bucket {
	if old == nil {
		return s.create(spec, true)
	}
	s.refill(old)
	s.remove(old)
	b := s.create(spec, true)
	if old.Kind == Continuous && spec.Kind == Continuous {
		b.level = spec.Capacity * old.part()
	}
	return b
}

// part is what of its capacity a bucket has, below zero what it owes: of a debt no more than one capacity, for the units of two
// capacities are as far apart as debts are.
func (b *bucket) part() float64 {
	if b.Capacity <= 0 {
		return 0
	}
	return max(-1, min(b.level/b.Capacity, 1))
}

func (s *Scheduler) remove(b *bucket) {
	b.gone, b.goneAt = true, s.clock
}

// relimit sets a bucket's limits without adding to its level.
func (s *Scheduler) relimit(b *bucket, spec Bucket) {
	s.refill(b)
	old := b.Bucket
	if spec.Shares != old.Shares {
		b.Shares = spec.Shares
		s.reshare(b)
	}
	b.limit(spec)
	if spec.Kind == Slots {
		b.recount()
	} else {
		if spec.Capacity < old.Capacity {
			b.scale(spec.Capacity / old.Capacity)
		}
		b.back()
	}
	if old != spec {
		s.stirBucket(b)
	}
}

// recount sets the level and the credits of a Slots bucket from what is in use.
func (b *bucket) recount() {
	b.level = b.Capacity
	for i := range b.accounts {
		b.level -= b.accounts[i].inUse.sum
		b.accounts[i].reslot(b.Capacity)
	}
	b.summed = false
}

// scale shrinks what is positive; old capacities of zero never get here, as nothing is smaller.
func (b *bucket) scale(by float64) {
	if b.level > 0 {
		b.level *= by
	}
	if b.ceiling > 0 {
		b.ceiling *= by
	}
	for i := range b.accounts {
		if a := &b.accounts[i]; a.credit > 0 {
			a.credit *= by
		}
	}
	b.summed = false
}

// suspend takes all waiting calls out, in order, but leaves them queued. Every bucket is brought up to the clock before:
// a refill while no head is committed would cut what lanes have collected for theirs to what they hold when idle.
func (s *Scheduler) suspend() []*Call {
	for _, b := range s.slots {
		if b != nil {
			s.refill(b)
		}
	}
	var waiting []*node
	for _, q := range s.active {
		if q.head != nil {
			waiting = append(waiting, q.head)
		}
		q.root.each(func(n *node) { waiting = append(waiting, n) })
		waiting = append(waiting, q.sleepers...)
	}
	slices.SortFunc(waiting, func(n, m *node) int {
		switch {
		// Who is committed stays so, also before a retry that was committed earlier.
		case n.place == first && m.place != first:
			return -1
		case n.place != first && m.place == first:
			return 1
		case n.less(m):
			return -1
		case m.less(n):
			return 1
		}
		return 0
	})
	calls := make([]*Call, len(waiting))
	for i, n := range waiting {
		calls[i] = n.call
		n.call.node = nil
	}
	for _, l := range s.lanes {
		l.queues, l.depth, l.bytes, l.heads, l.yielding = nil, 0, 0, 0, yielding{}
	}
	s.depth, s.bytes = 0, 0
	for _, g := range s.groups {
		g.depth = 0
	}
	for _, b := range s.slots {
		for i := range b.lanes() {
			b.accounts[i].queued, b.accounts[i].committed = tally{}, tally{}
			b.need = 0
		}
	}
	s.active = nil
	return calls
}

func (b *bucket) lanes() []account {
	if b == nil {
		return nil
	}
	return b.accounts
}

// resume lets calls wait again under the new configuration, each for what reprice makes it take, if that is set. Nobody who
// waited is refused for want of room.
func (s *Scheduler) resume(waiting []*Call, reprice func(*Call)) {
	for _, c := range waiting {
		if reprice != nil {
			reprice(c)
		}
		s.prepare(c)
		if reason, b := c.impossible(); reason != ReasonNone {
			s.refuse(c, reason, b, 0)
			s.done = append(s.done, c)
			continue
		}
		q := c.home().queueOf(c)
		if q == nil {
			s.refuse(c, ReasonQueueFull, nil, 0)
			s.done = append(s.done, c)
			continue
		}
		n := s.newNode(c, q)
		s.time(n)
		n.latest = c.latest(n.startBy)
		if !s.patient {
			s.look(q, accepting)
			s.value(n, accepting)
		}
		c.node = n
		s.join(q, n)
	}
	s.watch()
	for i := 0; i < len(s.active) && !s.patient; i++ {
		q := s.active[i]
		s.review(q)
		if q.n == 0 {
			i--
		}
	}
	for _, b := range s.slots {
		for i := range b.lanes() {
			b.clip(&b.accounts[i])
		}
		if b != nil {
			b.trim()
		}
	}
}
