// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"maps"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
)

// shared is one pool and what draws on it.
type shared struct {
	key    Key
	pool   *pool.Pool
	epoch  uint64
	cfg    pool.Config
	origin []origin
	// drawn are the budgets that a store knows.
	drawn []pool.Budget
	// places are those of the budgets in cfg by their names; the pool may have them in another order.
	places map[string]int
	// routes draw on it, members are their gateways by the pool's names.
	routes          []*route
	members         map[string]*member
	left, unbounded int
	digest          digest
	touched         bool
	alarm
}

// settle lays out anew what edits touched. First all that ends is remembered, then what begins finds it: a limit may come
// from another pool.
func (l *Ledger) settle(now time.Time) {
	if !l.leading || len(l.dirty) == 0 {
		return
	}
	keys := slices.SortedFunc(maps.Keys(l.dirty), Key.compare)
	clear(l.dirty)
	begin := map[Key]*layout{}
	for _, key := range keys {
		s, to := l.pools[key], l.layout(key)
		switch {
		case s == nil && to == nil:
		case s == nil:
			begin[key] = to
		case to != nil && l.edit(s, to, now):
		default:
			l.end(s, now)
			if to != nil {
				begin[key] = to
			}
		}
	}
	for _, key := range keys {
		if to := begin[key]; to != nil {
			l.begin(key, to, now)
		}
	}
	l.resume(now)
}

// edit puts an edit of a pool in force, if that is possible without another one: nobody's term ends. Limits that come from
// other pools are known once all edits are.
func (l *Ledger) edit(s *shared, to *layout, now time.Time) bool {
	stays := make(map[string]bool, len(to.cfg.Budgets))
	var comes []int
	for i := range to.cfg.Budgets {
		name := to.cfg.Budgets[i].Name
		stays[name] = true
		if _, had := s.places[name]; !had {
			comes = append(comes, i)
		}
	}
	known := s.pool.Known(now)
	if !s.pool.Apply(to.cfg, now) {
		return false
	}
	for _, k := range known {
		if !stays[k.Name] {
			l.remember(s, k, now)
		}
	}
	l.adopt(s, to, now)
	for _, i := range comes {
		l.coming = append(l.coming, coming{s, i})
	}
	// What was put off asks anew.
	l.touch(s)
	return true
}

// coming is a limit that is new in a pool, by its place in the configuration.
type coming struct {
	*shared
	i int
}

// resume has limits that came begin with what is known of them.
func (l *Ledger) resume(now time.Time) {
	for _, c := range l.coming {
		if k, ok := l.known(&c.cfg.Budgets[c.i], c.origin[c.i], c.shared, now); ok {
			c.pool.Resume([]pool.Known{k}, now)
		}
		c.pool.State(now)
	}
	clear(l.coming)
	l.coming = l.coming[:0]
}

func (l *Ledger) remember(s *shared, k pool.Known, now time.Time) {
	if i, ok := s.places[k.Name]; ok {
		l.memory.add(s.origin[i], memo{known: k, kind: s.cfg.Budgets[i].Kind, window: s.cfg.Budgets[i].Window, at: now, of: s})
	}
}

// end remembers what a pool had.
func (l *Ledger) end(s *shared, now time.Time) {
	for _, k := range s.pool.Known(now) {
		l.remember(s, k, now)
	}
	for _, r := range s.routes {
		if r.pool == s {
			r.pool = nil
		}
	}
	l.alarms.drop(s)
	delete(l.pools, s.key)
	l.publishing.gone(s)
}

// begin starts a pool, with what is known of its limits.
func (l *Ledger) begin(key Key, to *layout, now time.Time) {
	s := &shared{key: key, epoch: l.term(), members: map[string]*member{}}
	by := pool.Leader{Epoch: s.epoch, First: l.first(), Last: l.last.of(key, &to.cfg)}
	s.pool = pool.New(to.cfg, by, now)
	known, handed := l.knownOf(key, to, now)
	if len(known) > 0 {
		s.pool.Resume(known, now)
	}
	if heirs, named := l.last.heirs(key, digestOf(key, &to.cfg)); named && handed {
		s.pool.Await(heirs, now)
	}
	// What may be outstanding is bounded from the start on, whether that is published or not.
	s.pool.State(now)
	s.pool.Extend(l.until)
	l.pools[key] = s
	l.adopt(s, to, now)
}

// knownOf is what is known of the limits of a pool that begins: by this leader, or by the one before; handed says that all of it
// is by that one.
func (l *Ledger) knownOf(key Key, to *layout, now time.Time) (known []pool.Known, handed bool) {
	d := digestOf(key, &to.cfg)
	handed = true
	for i := range to.cfg.Budgets {
		b := &to.cfg.Budgets[i]
		last, exact := l.last.take(key, d, b)
		k, ok := l.known(b, to.origin[i], nil, now)
		if !ok && exact {
			k, ok = last, true
		} else if b.Kind == budget.Continuous {
			handed = false
		}
		if ok {
			known = append(known, k)
		}
	}
	return known, handed
}

// first says that there was no leader before. That there is a document of one, whatever it is worth, belies it.
func (l *Ledger) first() bool { return l.by.First && l.by.Last.Version == 0 }

// known is what is known of a limit in this leadership: what it had in another pool, or that nobody has anything.
func (l *Ledger) known(b *pool.Budget, of origin, into *shared, now time.Time) (pool.Known, bool) {
	after := longest(l.opts.TTL)
	if b.Kind == budget.Slots {
		after += longest(l.opts.Drain)
	}
	k, ok := l.memory.recall(of, b, now, after, into)
	if !ok && !l.first() && !now.Before(l.began.Add(after)) {
		k, ok = pool.Known{Published: b.Capacity, Capacity: b.Capacity}, true
	}
	k.Name = b.Name
	return k, ok
}

// adopt has routes draw on a pool as it is laid out now.
func (l *Ledger) adopt(s *shared, to *layout, now time.Time) {
	were := s.routes
	s.places = make(map[string]int, len(to.cfg.Budgets))
	for i := range to.cfg.Budgets {
		s.places[to.cfg.Budgets[i].Name] = i
	}
	s.cfg, s.origin, s.left, s.unbounded = to.cfg, to.origin, to.left, to.unbounded
	s.drawn = drawnOf(&to.cfg)
	s.routes = slices.SortedFunc(maps.Keys(to.names), func(a, b *route) int { return a.id.compare(b.id) })
	for _, r := range s.routes {
		if r.pool != s {
			r.pool, r.term = s, l.term()
		}
		r.names = to.names[r]
		for _, m := range r.members {
			s.join(m, now)
		}
	}
	for _, r := range were {
		if _, stays := to.names[r]; stays {
			continue
		}
		if r.pool == s {
			r.pool = nil
		}
		for _, m := range r.members {
			s.leave(m, now)
		}
	}
	if d := digestOf(s.key, &s.cfg); d != s.digest {
		s.digest = d
		l.publishing.changes++
	}
	l.touch(s)
}

// join makes a gateway known to the pool, with all that it may touch.
func (s *shared) join(m *member, now time.Time) {
	s.members[m.name] = m
	s.pool.Join(m.name, m.route.use, now)
}

func (s *shared) leave(m *member, now time.Time) {
	delete(s.members, m.name)
	s.pool.Forget(m.name, now)
}
