// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// tick brings everything up to now. What ends before that ends at its own time, so that no rate is too high for a
// moment, however rarely the pool is asked.
func (p *Pool) tick(now time.Time) {
	if !now.After(p.now) {
		return
	}
	p.raise()
	for !p.deadline.IsZero() && !p.deadline.After(now) {
		if p.deadline.After(p.now) {
			p.now = p.deadline
			p.cap(p.now)
			p.observe()
		}
		p.pass()
	}
	p.now = now
	p.cap(now)
	p.observe()
}

// pass ends what has lasted its time.
func (p *Pool) pass() {
	p.deadline = time.Time{}
	for _, a := range slices.Clone(p.list) {
		switch {
		case !a.over.After(p.now):
			p.close(a)
			continue
		case a.connected && !a.sure.After(p.now):
			p.connect(a, false)
		}
		if a.quiet.After(p.now) {
			p.meet(a.quiet)
		} else {
			p.withdraw(a)
		}
		p.meet(a.over)
		if a.connected {
			p.meet(a.sure)
		}
	}
	p.learn()
	kept := p.idle[:0]
	for _, s := range p.idle {
		if s.free.After(p.now) {
			kept = append(kept, s)
			p.meet(s.free)
			continue
		}
		p.release(s.purse, s)
	}
	clear(p.idle[len(kept):])
	p.idle = kept
	p.rerate()
	p.cap(p.now)
}

// learn ends the time in which an earlier leader's grants may be out. Its slots are free when all that are expected
// have been heard of, else when no call can be in flight any longer.
func (p *Pool) learn() {
	if p.learned.IsZero() {
		return
	}
	if p.learned.After(p.now) {
		p.meet(p.learned)
		return
	}
	drained := !p.drained.After(p.now) || p.heardOfAll()
	for _, b := range p.purses {
		if b.Kind == budget.Continuous || drained {
			b.unknown = 0
		}
	}
	if drained {
		p.learned = time.Time{}
		p.reslot()
		return
	}
	p.meet(minTime(p.drained, p.now.Add(p.cfg.TTL)))
}

func (p *Pool) heardOfAll() bool {
	for _, h := range p.holders {
		if h.expected && h.accounts == 0 {
			return false
		}
	}
	return true
}

func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// close ends an account. What it holds is spent: it may be in truth. Slots come back when its calls have ended.
func (p *Pool) close(a *account) {
	p.withdraw(a)
	burnt := false
	for i := range a.books {
		k, b := &a.books[i], p.purses[i]
		held := max(0, k.outstanding())
		b.held -= held
		if b.Kind == budget.Continuous {
			b.burnt += held
			burnt = burnt || held > trifle*b.Capacity
			continue
		}
		for _, s := range k.slots {
			s.key, s.purse, s.free = a.key, i, p.now.Add(p.longest(p.cfg.Drain))
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
	a.changed = false
	delete(p.accounts, a.key)
	p.list = slices.DeleteFunc(p.list, func(b *account) bool { return a == b })
	p.ended.add(a.key, a.seq)
	h := p.holders[a.key.Holder]
	was := h.silent()
	h.accounts--
	p.resilence(h, was)
	p.drop(a.key.Holder)
}

// tombs remember the last reports of ended incarnations, so that late ones open no account. The oldest go first.
type tombs struct {
	at    map[Key]uint64
	order []Key
}

func (t *tombs) add(key Key, seq uint64) {
	if _, known := t.at[key]; !known {
		if len(t.order) >= maxTombs {
			delete(t.at, t.order[0])
			t.order = append(t.order[:0], t.order[1:]...)
		}
		t.order = append(t.order, key)
	}
	t.at[key] = seq
}
