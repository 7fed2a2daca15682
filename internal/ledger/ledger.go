// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
)

// Ledger is the pools of one leader, or of one that waits to lead. It is not safe for concurrent use.
type Ledger struct {
	opts Options
	// routes are those of all plans, spaces has them by their namespaces, drawing by the pool they draw on.
	routes   map[Route]*route
	spaces   map[string]map[Route]*route
	drawing  map[Key]map[Route]*route
	accounts map[string]*Account
	numbers  uint64

	// leading is from began on, with by, until a time.
	leading bool
	by      Leadership
	began   time.Time
	until   time.Time
	// terms counts those of all pools in the leadership.
	terms uint64
	last  lastState

	pools map[Key]*shared
	// dirty pools are laid out again before anything else is done.
	dirty  map[Key]bool
	memory memory
	// coming are limits that came into pools by the edits that are being put in force.
	coming []coming
	// touched pools have heard something since they last granted.
	touched []*shared
	alarms  alarms
	changed []Recipient

	publishing publishing
	refused    uint64

	// scratch is room for what is translated.
	report pool.Report
	keys   []pool.Key
}

// New makes a ledger that does not lead yet.
func New(opts Options) *Ledger {
	if opts.Interval <= 0 {
		opts.Interval = interval
	}
	if opts.TTL <= 0 {
		opts.TTL = ttl
	}
	if opts.Drain <= 0 {
		opts.Drain = drain
	}
	return &Ledger{
		opts: opts, accounts: map[string]*Account{}, routes: map[Route]*route{}, spaces: map[string]map[Route]*route{},
		drawing: map[Key]map[Route]*route{}, pools: map[Key]*shared{}, dirty: map[Key]bool{}, memory: newMemory(),
	}
}

// The times that pools take by themselves.
const (
	interval = time.Second
	ttl      = 10 * time.Second
	drain    = 10 * time.Minute
	// slack is by which part clocks may differ in rate.
	slack = 0.01
)

// longest is how long a time measured by another clock may last on this one.
func longest(d time.Duration) time.Duration { return time.Duration(float64(d) * (1 + slack)) }

// maxTerms is how many terms one leadership may begin until its numbers reach into those of a later one, by milliseconds.
const maxTerms = 20

// Lead begins a leadership: all pools start anew, with what Last says of the ones before.
func (l *Ledger) Lead(by Leadership, now time.Time) {
	l.leading, l.by, l.began, l.until, l.terms = true, by, now, time.Time{}, 0
	l.last = readLast(by, l.opts.Origin)
	l.memory, l.publishing = newMemory(), publishing{changes: 1}
	l.touched, l.alarms, l.changed, l.refused = nil, nil, nil, 0
	clear(l.pools)
	for _, r := range l.routes {
		r.pool = nil
	}
	for key := range l.drawing {
		l.dirty[key] = true
	}
	l.settle(now)
}

// term is the number of a term that begins: larger than all before.
func (l *Ledger) term() uint64 {
	l.terms++
	return l.by.Epoch<<maxTerms + l.terms
}

// Extend sets when the leadership ends unless it is extended again; without it never. From then on nothing is granted.
func (l *Ledger) Extend(until time.Time) {
	if until.Equal(l.until) {
		return
	}
	l.until = until
	for _, s := range l.pools {
		s.pool.Extend(until)
	}
}

// Report takes in what a gateway says of a route, by its plan's names; rep.Holder is the gateway. See pool.Pool.Report: an
// error means that it was not taken in and is not answered.
func (l *Ledger) Report(r Route, rep *pool.Report, now time.Time) error {
	err := l.take(r, rep, now)
	if err != nil {
		l.refused++
	}
	return err
}

func (l *Ledger) take(r Route, rep *pool.Report, now time.Time) error {
	if !l.leading {
		return ErrNotLeading
	}
	l.settle(now)
	rt := l.routes[r]
	if rt == nil {
		return ErrUnknownRoute
	}
	if rt.pool == nil {
		return ErrNoPool
	}
	m := rt.members[rep.Holder]
	if m == nil {
		return ErrNotExpected
	}
	if err := l.inward(rt, m, rep); err != nil {
		return err
	}
	if err := rt.pool.pool.Report(&l.report, now); err != nil {
		return err
	}
	m.heard(rep, now)
	l.touch(rt.pool)
	return nil
}

// touch has a pool grant at the next Advance.
func (l *Ledger) touch(s *shared) {
	if !s.touched {
		s.touched = true
		l.touched = append(l.touched, s)
	}
}

// Advance grants what can be granted by now. It is to be called after the reports of a tick, and when Next says.
func (l *Ledger) Advance(now time.Time) {
	if !l.leading {
		return
	}
	l.settle(now)
	for {
		s := l.alarms.due(now)
		if s == nil {
			break
		}
		l.touch(s)
	}
	for i, s := range l.touched {
		l.touched[i], s.touched = nil, false
		if l.pools[s.key] == s {
			l.advance(s, now)
		}
	}
	l.touched = l.touched[:0]
}

func (l *Ledger) advance(s *shared, now time.Time) {
	s.pool.Advance(now)
	l.keys = s.pool.Changed(l.keys[:0])
	for _, key := range l.keys {
		if m := s.members[key.Holder]; m != nil {
			l.changed = append(l.changed, Recipient{m.route.id, m.holder, key.Incarnation})
		}
	}
	if at, ok := s.pool.Next(now); ok {
		l.alarms.set(s, at)
	} else {
		l.alarms.drop(s)
	}
	l.publishing.mark(s, s.pool.Stale())
}

// Next is when Advance is due if nothing is reported before.
func (l *Ledger) Next(now time.Time) (time.Time, bool) {
	if !l.leading {
		return time.Time{}, false
	}
	l.settle(now)
	return l.alarms.next()
}

// Changed appends who is to be told something: those that reported, and those that were granted something.
func (l *Ledger) Changed(dst []Recipient) []Recipient {
	dst = append(dst, l.changed...)
	clear(l.changed)
	l.changed = l.changed[:0]
	return dst
}

// Grant is what a recipient is to be told now, by its plan's names; false if there is nothing to say.
func (l *Ledger) Grant(to Recipient, now time.Time) (pool.Grant, bool) {
	if !l.leading {
		return pool.Grant{}, false
	}
	l.settle(now)
	r := l.routes[to.Route]
	if r == nil || r.pool == nil || r.members[to.Holder] == nil {
		return pool.Grant{}, false
	}
	m := r.members[to.Holder]
	g, ok := r.pool.pool.Grant(pool.Key{Holder: m.name, Incarnation: to.Incarnation}, now)
	if !ok {
		return pool.Grant{}, false
	}
	r.outward(&g, m)
	m.told(&g)
	return g, true
}
