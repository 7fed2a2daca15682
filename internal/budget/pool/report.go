// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"errors"
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
	// ErrExpelled is a holder that kept a large call's grant too long: it hears nothing until its lease has ended.
	ErrExpelled = errors.New("the holder hoarded what it was granted")
)

// Report takes in what a holder says. It is to be answered by Grant, also when nothing was granted: the answer is the
// holder's lease. An error means that the report was not taken in, and is not answered.
func (p *Pool) Report(r *Report, now time.Time) error {
	p.tick(now)
	if err := p.admissible(r); err != nil {
		return err
	}
	defer p.flush()
	key := Key{r.Holder, r.Incarnation}
	a, opened := p.accounts[key], false
	switch {
	case a == nil && r.Draining:
		// It says that it spends nothing any longer, and has nothing here.
		p.disown(key)
		return nil
	case a == nil:
		var err error
		if a, err = p.open(r); err != nil {
			return err
		}
		opened = true
	case r.Sequence <= a.seq:
		return ErrOld
	case a.expelled:
		return ErrExpelled
	}
	a.seq = r.Sequence
	a.over = p.now.Add(p.longest(p.cfg.TTL))
	a.quiet = p.now.Add(quiet * p.cfg.Interval)
	p.attend(a, a.quiet)
	p.enterAll(a, r.Counts)
	a.quoted = 0
	if r.Term == a.term && r.Stamp > 0 && r.Stamp <= a.stamp {
		a.quoted = r.Stamp
		p.assure(a, r)
		p.follows(a)
		p.heard(a)
		p.inherit(a)
	}
	p.flush()
	p.see(a, r.Seen)
	if r.Draining {
		p.disown(a.key)
		p.freeSlots(a)
		p.close(a)
		return nil
	}
	p.want(a, r, opened)
	a.tell(p)
	return nil
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
	if !sure.After(p.now) {
		return
	}
	if !a.connected {
		p.connect(a, true)
	}
	p.attend(a, sure)
}

// connect counts an account that surely has a lease, or has it no longer for sure.
func (p *Pool) connect(a *account, yes bool) {
	n := 1
	if !yes {
		n = -1
	}
	a.connected = yes
	p.change(a.holder, func() { a.holder.connected += n })
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
	if a == nil || !p.leads() || a.expelled {
		return Grant{}, false
	}
	a.stamp = max(1, int64(p.now.Sub(p.start)))
	g := Grant{
		Holder: key.Holder, Incarnation: key.Incarnation, Term: a.term, Ack: a.seq, Stamp: a.stamp, Recall: p.recall,
	}
	for _, k := range a.books {
		g.Totals = append(g.Totals, Amount{k.purse.Name, k.total()})
		if k.purse.Kind == budget.Continuous {
			g.Expected = append(g.Expected, Amount{k.purse.Name, k.expected})
			if k.told == 0 {
				k.told = a.stamp
			}
		} else {
			g.Expected = append(g.Expected, Amount{k.purse.Name, k.mayKeep()})
		}
	}
	for _, l := range a.lanes {
		t := a.laneTotal(l)
		if t.Outlook, t.Asked = p.outlook(a, l); len(t.Units) > 0 || len(t.Outlook) > 0 {
			g.Lanes = append(g.Lanes, t)
		}
	}
	return g, true
}

func (a *account) laneTotal(l *laneBook) LaneTotal {
	t := LaneTotal{Lane: l.name, Bulk: l.bulk}
	for i, u := range l.units {
		if u > 0 {
			t.Units = append(t.Units, Amount{a.books[i].purse.Name, u})
		}
	}
	return t
}
