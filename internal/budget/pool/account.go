// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"math"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// Bounds of what is kept, and their reasons.
const (
	// maxHolders is above what one leader serves.
	maxHolders = 16384
	// maxAccounts are incarnations that may still hold something.
	maxAccounts = 2 * maxHolders
	// maxIncarnations of one name: one that restarts in a loop waits until those before have ended.
	maxIncarnations = 4
	// maxTombs are ended incarnations whose late reports are known.
	maxTombs = 4096
)

// account is what one incarnation of a holder has at this leader.
type account struct {
	key    Key
	holder *holder
	term   Term
	// seq is the newest report's.
	seq uint64
	// books are of the budgets that the holder named; what is kept by budget is in their order.
	books []*book
	// group numbers the one of its first lane.
	group int
	// lanes are by the names that the holder uses.
	lanes []*laneBook
	// larges are large calls that were granted, and are not spent as far as is known.
	larges []large
	// stamp is the newest that was sent to it, quoted that of its newest report.
	stamp, quoted int64
	// sure is until when it surely has a lease, over is when it surely has none. When it is quiet nothing more is granted.
	sure, over, quiet time.Time
	connected         bool
	// lives says that it was heard of since it was opened: those of its name before have ended.
	lives bool
	// inherited says that it has quoted its term.
	inherited bool
	// expelled says that its reports are not answered any longer, until it is over.
	expelled bool
	claims   []*claim
	changed  bool
	// due is when it is looked at next, at its place in the heap of all.
	due   time.Time
	place int
	// open is its place in Pool.list.
	open int
}

// laneBook is what one lane was granted, by book.
type laneBook struct {
	name  string
	units []float64
	bulk  uint64
}

// lane returns the book of a lane; nil if the holder names too many, or may not ask for it.
func (a *account) lane(name string, group int) *laneBook {
	for _, l := range a.lanes {
		if l.name == name {
			return l
		}
	}
	if len(a.lanes) >= maxLanes || len(name) > maxName || !a.holder.mayAsk(name) {
		return nil
	}
	l := &laneBook{name: name, units: make([]float64, len(a.books))}
	if len(a.lanes) == 0 {
		a.group = group
	}
	a.lanes = append(a.lanes, l)
	return l
}

// slot is a granted slot: a call of the scheduler that lasts until it is given back, or one beside the scheduler.
type slot struct {
	call    budget.Call
	outside bool
	// lane is whose it was granted for.
	lane string
	// key, purse and free are of one whose holder is silent: it comes back at that time.
	key     Key
	opening uint64
	purse   *purse
	free    time.Time
}

// open makes an account for a holder that is heard of for the first time, or again after its account was closed.
func (p *Pool) open(r *Report) (*account, error) {
	key := Key{r.Holder, r.Incarnation}
	h := p.holder(r.Holder)
	if h == nil || len(p.accounts) >= maxAccounts || len(h.open) >= maxIncarnations {
		return nil, ErrTooMany
	}
	p.openings++
	a := &account{key: key, holder: h, term: Term{p.epoch, p.openings}, seq: r.Sequence, place: -1, open: len(p.list)}
	p.accounts[key] = a
	p.list = append(p.list, a)
	// Its first grant is to say what it may expect.
	p.expectAt = 0
	for _, earlier := range h.open {
		// It has probably ended.
		p.withdraw(earlier)
	}
	p.change(h, func() { h.open = append(h.open, a) })
	return a, nil
}

// release gives a slot back.
func (p *Pool) release(b *purse, s *slot) {
	if !s.outside {
		p.sched.Settle(&s.call, nil, p.now)
		return
	}
	b.outside--
	p.sched.Ensure(p.bucket(b), p.now)
}

// enterAll enters a report's counters. A budget that was not named before is opened with them.
func (p *Pool) enterAll(a *account, counts []Count) {
	for _, c := range counts {
		b, ok := p.byName[c.Budget]
		if !ok {
			continue
		}
		known := slices.ContainsFunc(a.books, func(k *book) bool { return k.purse == b })
		k := p.book(a, b)
		if k == nil {
			continue
		}
		k.named = a.seq
		if c = harmless(c, b.Kind); known {
			p.enter(k, c)
		} else {
			p.begin(k, c)
		}
	}
}

// harmless is a count in which no number breaks anything.
func harmless(c Count, kind budget.Kind) Count {
	out := Count{c.Budget, clean(c.Spent), clean(c.Returned), clean(c.Refunded), 0}
	if !math.IsNaN(c.Held) {
		out.Held = min(max(c.Held, -largest), largest)
	}
	if kind == budget.Slots {
		out.Spent, out.Refunded = 0, 0
		out.Returned, out.Held = math.Floor(out.Returned), max(0, math.Floor(out.Held))
	}
	return out
}

// close ends an account. What it holds is spent: it may be in truth. Slots come back when its calls have ended.
func (p *Pool) close(a *account) {
	p.withdraw(a)
	if a.followed() {
		p.freeSlots(a)
	}
	burnt := false
	for _, k := range a.books {
		p.touchBook(k)
		b, held := k.purse, max(0, k.outstanding())
		b.held -= held
		for i := range k.mirrors {
			m := &k.mirrors[i]
			m.purse.held -= m.held
			m.purse.burnt += m.held
		}
		k.leave()
		if b.Kind == budget.Continuous {
			b.burnt += held
			burnt = burnt || held > trifle*b.Capacity
			continue
		}
		for _, s := range k.slots {
			s.key, s.opening, s.purse, s.free = a.key, a.term.Opening, b, p.now.Add(p.longest(p.cfg.Drain))
			p.idle = append(p.idle, s)
			p.meet(s.free)
		}
	}
	if burnt {
		p.burns++
	}
	if a.connected {
		p.connect(a, false)
	}
	p.forgetAccount(a)
}

func (p *Pool) forgetAccount(a *account) {
	a.changed = false
	delete(p.accounts, a.key)
	last := p.list[len(p.list)-1]
	p.list[a.open], last.open = last, a.open
	p.list[len(p.list)-1] = nil
	p.list = p.list[:len(p.list)-1]
	p.undue(a)
	p.ended.add(a.key, a.seq)
	h := a.holder
	p.change(h, func() {
		h.open = slices.DeleteFunc(h.open, func(b *account) bool { return a == b })
	})
	p.drop(h)
}

// tombs remember the last reports of ended incarnations, so that late ones open no account. The oldest go first.
type tombs struct {
	at map[Key]uint64
	// order is a ring once it is full, next its oldest.
	order []Key
	next  int
}

func (t *tombs) add(key Key, seq uint64) {
	if _, known := t.at[key]; !known {
		if len(t.order) < maxTombs {
			t.order = append(t.order, key)
		} else {
			delete(t.at, t.order[t.next])
			t.order[t.next] = key
			t.next = (t.next + 1) % maxTombs
		}
	}
	t.at[key] = seq
}
