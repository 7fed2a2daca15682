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

	sched *budget.Scheduler
	// purses are the budgets, then the shadows.
	purses []*purse
	byName map[string]*purse
	lanes  map[string]int
	// groups are those of the lanes, groupOf is by lane which.
	groups  []budget.Group
	groupOf []int

	// accounts are open, list has them in no order.
	accounts map[Key]*account
	list     []*account
	dues     dues
	holders  map[string]*holder
	ended    tombs
	// awaited are those of whom an earlier leader said that they may hold something; nil if it did not say who they are.
	awaited  map[Heir]bool
	openings uint64
	// silent counts holders that may be taking their safe share. silentAll and knownAll are those that may touch all.
	silent, silentAll, knownAll int
	// asking counts claims in the scheduler's queues, bulks has the large ones in the order in which they came.
	asking int
	bulks  []*claim
	// burns counts incarnations that ended holding something, expulsions those that hoarded.
	burns, expulsions int
	recall            bool

	// deadline is not after the first time at which anything but an account ends.
	deadline time.Time
	// learned is when nothing of an earlier leader can be spent any longer, drained when none of its slots is in use.
	learned, drained time.Time

	touched []*purse
	// sighted are budgets whose levels were lowered by a holder's word.
	sighted []*purse
	changed []*account
	parked  []*claim
	putOffs []*claim
	idle    []*slot
	decided []*budget.Call
	snap    budget.Snapshot
	// expectAt is when what small calls may expect is worked out next, portions are room for that.
	expectAt time.Duration
	portions portions
	// supplies are what may be expected to come of external budgets.
	supplies map[string]supply
}

// Key is one incarnation of a holder.
type Key struct {
	Holder      string
	Incarnation uint64
}

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
	p.furnish(by)
	p.index()
	p.sched = budget.New(p.schedule(), now)
	p.bind()
	for _, b := range p.purses {
		p.sched.Lower(b.id, -b.debt, now)
	}
	for _, name := range by.Holders {
		p.expect(name)
	}
	p.touchAll()
	p.flush()
	return p
}

// furnish makes the purses.
func (p *Pool) furnish(by Leader) {
	known := map[string]*purse{}
	for _, b := range p.cfg.Budgets {
		if known[b.Name] == nil {
			known[b.Name] = p.newPurse(b, by)
			p.purses = append(p.purses, known[b.Name])
		}
	}
	for _, s := range p.cfg.Shadows {
		if of := known[s.Of]; of != nil && of.of == nil && of.Kind == budget.Continuous && known[s.Name] == nil {
			b := p.newPurse(s.budget(of), by)
			b.of, b.lanes = of, s.Lanes
			b.safeRate, b.safeBurst = of.safeRate, of.safeBurst
			known[s.Name] = b
			p.purses = append(p.purses, b)
		}
	}
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
