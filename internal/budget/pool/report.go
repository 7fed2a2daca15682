// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"errors"
	"math"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// What a report is refused for.
var (
	// ErrBounds is a report with more than it may have.
	ErrBounds = errors.New("the report exceeds the bounds of a message")
	// ErrTooMany is a holder for which there is no room: it stays on its safe share.
	ErrTooMany = errors.New("there are too many holders, or too many incarnations of this one")
	// ErrOld is a report that was overtaken by a newer one; nothing is lost with it.
	ErrOld = errors.New("the report is older than one that came before")
	// ErrFenced is a report to a leader that was followed by another, or whose time has ended.
	ErrFenced = errors.New("there is a later leader, or none")
)

// Report takes in what a holder says. It is to be answered by Grant, also when nothing was granted: the answer is the
// holder's lease. An error means that the report was not taken in, and is not answered.
func (p *Pool) Report(r *Report, now time.Time) error {
	p.tick(now)
	if err := p.admissible(r); err != nil {
		return err
	}
	key := Key{r.Holder, r.Incarnation}
	a, opened := p.accounts[key], false
	switch {
	case a == nil && r.Draining:
		// It says that it spends nothing any longer, and has nothing here.
		return nil
	case a == nil:
		var err error
		if a, err = p.open(r); err != nil {
			return err
		}
		opened = true
	case r.Sequence <= a.seq:
		return ErrOld
	}
	a.seq = r.Sequence
	a.over = p.now.Add(p.longest(p.cfg.TTL))
	a.quiet = p.now.Add(quiet * p.cfg.Interval)
	p.meet(a.over)
	p.meet(a.quiet)
	if !opened {
		for i, c := range p.counts(r) {
			p.enter(a, i, c)
		}
	}
	a.quoted = 0
	if r.Term == a.term && r.Stamp > 0 && r.Stamp <= a.stamp {
		a.quoted = r.Stamp
		p.assure(a, r)
	}
	p.see(r.Seen)
	if r.Draining {
		p.close(a)
		return nil
	}
	p.want(a, r, opened)
	a.tell(p)
	return nil
}

// see takes in facts from outside: all that may be spent is within what the provider has. What others took comes out of P
// alone, for holders have theirs already; so P stays behind by what they have spent and not reported, which the guard covers.
func (p *Pool) see(seen []Amount) {
	for _, s := range seen {
		if i, ok := p.byName[s.Budget]; ok && p.purses[i].Kind == budget.Continuous && !math.IsNaN(s.Units) {
			b := p.purses[i]
			p.sched.Lower(b.id, max(s.Units-b.Capacity+p.room(b), -b.Capacity)-b.lift, p.now)
		}
	}
}

func (p *Pool) admissible(r *Report) error {
	switch {
	case len(r.Counts) > maxBudgets || len(r.Wants) > maxWants || len(r.Seen) > maxBudgets || r.Holder == "" || len(r.Holder) > maxName:
		return ErrBounds
	case !p.leads() || r.Term.Epoch > p.epoch:
		return ErrFenced
	}
	for i := range r.Wants {
		if len(r.Wants[i].Units) > maxBudgets {
			return ErrBounds
		}
	}
	if seq, ended := p.ended.at[Key{r.Holder, r.Incarnation}]; ended && r.Sequence <= seq {
		return ErrOld
	}
	return nil
}

// assure notes until when the holder surely has a lease: as long as it says, from a time that was before it said so.
func (p *Pool) assure(a *account, r *Report) {
	if r.Lease <= 0 {
		return
	}
	sure := p.start.Add(time.Duration(r.Stamp) + p.shortest(min(r.Lease, p.cfg.TTL)))
	if !sure.After(a.sure) {
		return
	}
	a.sure = sure
	if !a.connected && sure.After(p.now) {
		p.connect(a, true)
	}
	p.meet(sure)
}

// connect counts an account that surely has a lease, or has it no longer for sure.
func (p *Pool) connect(a *account, yes bool) {
	h := p.holders[a.key.Holder]
	was := h.silent()
	a.connected = yes
	if yes {
		h.connected++
	} else {
		h.connected--
	}
	p.resilence(h, was)
}

// tell has the holder be told.
func (a *account) tell(p *Pool) {
	if !a.changed {
		a.changed = true
		p.changed = append(p.changed, a)
	}
}

// Changed appends the holders that are to be told: those that reported, and those that were granted something.
func (p *Pool) Changed(keys []Key) []Key {
	for i, a := range p.changed {
		p.changed[i] = nil
		if p.accounts[a.key] == a && a.changed {
			keys = append(keys, a.key)
		}
		a.changed = false
	}
	p.changed = p.changed[:0]
	return keys
}

// Grant is what a holder is to be told now; false if it is unknown, or nobody is told anything any longer.
func (p *Pool) Grant(key Key, now time.Time) (Grant, bool) {
	p.tick(now)
	a := p.accounts[key]
	if a == nil || !p.leads() {
		return Grant{}, false
	}
	a.stamp = max(1, int64(p.now.Sub(p.start)))
	g := Grant{
		Holder: key.Holder, Incarnation: key.Incarnation, Term: a.term, Ack: a.seq, Stamp: a.stamp, Recall: p.recall,
	}
	for i := range a.books {
		g.Totals = append(g.Totals, Amount{p.purses[i].Name, a.books[i].total()})
	}
	for i, b := range p.purses {
		if b.Kind == budget.Continuous {
			g.Expected = append(g.Expected, Amount{b.Name, a.books[i].expected})
		}
	}
	for _, l := range a.lanes {
		if t := p.laneTotal(l); len(t.Units) > 0 {
			g.Lanes = append(g.Lanes, t)
		}
	}
	return g, true
}

func (p *Pool) laneTotal(l *laneBook) LaneTotal {
	t := LaneTotal{Lane: l.name, Bulk: l.bulk}
	for i, u := range l.units {
		if u > 0 {
			t.Units = append(t.Units, Amount{p.purses[i].Name, u})
		}
	}
	return t
}

// meet has tick look at what ends at a time.
func (p *Pool) meet(at time.Time) {
	if p.deadline.IsZero() || at.Before(p.deadline) {
		p.deadline = at
	}
}
