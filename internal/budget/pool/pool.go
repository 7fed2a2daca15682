// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// Pool is one leader's. It is not safe for concurrent use.
type Pool struct {
	cfg   Config
	epoch uint64
	start time.Time
	// now never goes back.
	now time.Time
	// until is when the leadership ends unless it is extended; zero is never.
	until time.Time

	sched  *budget.Scheduler
	purses []*purse
	byName map[string]int
	lanes  map[string]int

	// accounts are open; list has them in the order of their opening.
	accounts map[Key]*account
	list     []*account
	holders  map[string]*holder
	ended    tombs
	openings uint64
	// silent counts holders that may be taking their safe share.
	silent int
	// asking counts holders' lanes that want to be granted small calls.
	asking int
	// bulks counts bulk calls in the scheduler's queues.
	bulks int
	// burns counts incarnations that ended holding something.
	burns  int
	recall bool

	// deadline is not after the first time at which silence or learning ends something.
	deadline time.Time
	// learned is when nothing of an earlier leader can be spent any longer, drained when none of its slots is in use.
	learned, drained time.Time

	changed []*account
	parked  []*claim
	idle    []*slot
	decided []*budget.Call
	snap    budget.Snapshot
	// expectAt is when what small calls may expect is worked out next, needs is room for that.
	expectAt time.Duration
	needs    []float64
}

// Key is one incarnation of a holder.
type Key struct {
	Holder      string
	Incarnation uint64
}

// holder is what is known of a name, over its incarnations.
type holder struct {
	expected bool
	accounts int
	// connected counts those of its accounts that surely have a lease.
	connected int
}

// silent says whether the holder may be taking its safe share.
func (h *holder) silent() bool { return (h.expected || h.accounts > 0) && h.connected == 0 }

// Leader is with what a leader begins.
type Leader struct {
	// Epoch is larger than every earlier leader's.
	Epoch uint64
	// First says that there was no leader before, so that nothing can be outstanding.
	First bool
	// Last is what the leader before published.
	Last State
	// Holders are the names that exist.
	Holders []string
}

// New begins a leadership. The one before has ended: its owner saw to that.
func New(cfg Config, by Leader, now time.Time) *Pool {
	p := &Pool{
		cfg: cfg.withDefaults(), epoch: by.Epoch, start: now, now: now,
		accounts: map[Key]*account{}, holders: map[string]*holder{}, ended: tombs{at: map[Key]uint64{}},
	}
	if !by.First {
		p.learned = now.Add(p.longest(p.cfg.TTL))
		p.drained = p.learned.Add(p.longest(p.cfg.Drain))
		p.deadline = p.learned
	}
	for _, b := range p.cfg.Budgets {
		p.purses = append(p.purses, newPurse(b, p.cfg.MaxHolders, by))
	}
	p.index()
	for _, name := range by.Holders {
		p.expect(name)
	}
	p.sched = budget.New(p.schedule(), now)
	p.bind()
	for _, b := range p.purses {
		p.sched.Lower(b.id, -b.debt, now)
	}
	p.cap(now)
	return p
}

// longest is how long a time measured by another clock may last on this one.
func (p *Pool) longest(d time.Duration) time.Duration { return time.Duration(float64(d) * (1 + slack)) }

// shortest is how long it lasts at the least.
func (p *Pool) shortest(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (1 - slack))
}

// Extend sets when the leadership ends. From then on nothing is granted and no lease is given.
func (p *Pool) Extend(until time.Time) { p.until = until }

func (p *Pool) leads() bool { return p.until.IsZero() || p.now.Before(p.until) }

// Expect says that a holder of the name exists. Until it is heard of, its safe share is left to it.
func (p *Pool) Expect(name string, now time.Time) {
	p.tick(now)
	p.expect(name)
	p.rerate()
	p.cap(p.now)
}

func (p *Pool) expect(name string) {
	if h := p.holder(name); h != nil {
		was := h.silent()
		h.expected = true
		p.resilence(h, was)
	}
}

// Join says that a holder of the name exists, and what it may touch. A later one replaces what it may touch from then on.
func (p *Pool) Join(name string, use Use, now time.Time) {
	p.Expect(name, now)
}

// Forget says that the holder of the name is deleted: it spends nothing any longer, and takes no safe share. What it
// held is spent when its TTL has passed.
func (p *Pool) Forget(name string, now time.Time) {
	p.tick(now)
	if h := p.holders[name]; h != nil {
		was := h.silent()
		h.expected = false
		p.resilence(h, was)
		p.drop(name)
	}
}

// resilence counts a holder that fell silent or was heard of.
func (p *Pool) resilence(h *holder, was bool) {
	switch is := h.silent(); {
	case is && !was:
		p.silent++
	case was && !is:
		p.silent--
	}
}

// holder returns what is known of a name; nil when there are too many.
func (p *Pool) holder(name string) *holder {
	h := p.holders[name]
	if h == nil && len(p.holders) < maxHolders {
		h = &holder{}
		p.holders[name] = h
	}
	return h
}

// drop forgets a name of which nothing is known.
func (p *Pool) drop(name string) {
	if h := p.holders[name]; h != nil && !h.expected && h.accounts == 0 {
		delete(p.holders, name)
	}
}
