// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"container/heap"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// tick brings everything up to now. What ends before that ends at its own time, so that no rate is too high for a
// moment, however rarely the pool is asked.
func (p *Pool) tick(now time.Time) {
	if !now.After(p.now) {
		return
	}
	for at, ok := p.ends(); ok && !at.After(now); at, ok = p.ends() {
		if at.After(p.now) {
			p.now = at
		}
		p.pass()
	}
	p.now = now
}

// ends is when something ends next.
func (p *Pool) ends() (at time.Time, ok bool) {
	at = p.deadline
	if len(p.dues) > 0 && (at.IsZero() || p.dues[0].due.Before(at)) {
		at = p.dues[0].due
	}
	return at, !at.IsZero()
}

// pass ends what has lasted its time.
func (p *Pool) pass() {
	for len(p.dues) > 0 && !p.dues[0].due.After(p.now) {
		p.review(p.dues[0])
	}
	if !p.deadline.IsZero() && !p.deadline.After(p.now) {
		p.deadline = time.Time{}
		p.learn()
		p.freeIdle()
		p.forgetSights()
	}
	p.flush()
}

// review looks at one account whose time may have come.
func (p *Pool) review(a *account) {
	if !a.over.After(p.now) {
		p.close(a)
		return
	}
	if a.connected && !a.sure.After(p.now) {
		p.connect(a, false)
	}
	if !a.quiet.After(p.now) {
		p.withdraw(a)
	}
	p.expel(a)
	a.due = a.over
	for _, t := range []time.Time{a.quiet, a.sure, p.hoardedUntil(a)} {
		if t.After(p.now) && t.Before(a.due) {
			a.due = t
		}
	}
	heap.Fix(&p.dues, a.place)
}

// freeIdle frees slots whose calls have ended.
func (p *Pool) freeIdle() {
	kept := p.idle[:0]
	for _, s := range p.idle {
		if s.free.After(p.now) {
			kept = append(kept, s)
			p.meet(s.free)
			continue
		}
		p.touch(s.purse)
		p.release(s.purse, s)
	}
	clear(p.idle[len(kept):])
	p.idle = kept
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
	p.awaited = nil
	drained := !p.drained.After(p.now) || p.heardOfAll()
	for _, b := range p.purses {
		if b.unknown > 0 && (b.Kind == budget.Continuous || drained) {
			p.touch(b)
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
		if h.expected && len(h.open) == 0 {
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

// meet has tick look at what ends at a time.
func (p *Pool) meet(at time.Time) {
	if p.deadline.IsZero() || at.Before(p.deadline) {
		p.deadline = at
	}
}

// dues are accounts by when they are looked at. What has come to last longer is found then.
type dues []*account

func (d dues) Len() int           { return len(d) }
func (d dues) Less(i, j int) bool { return d[i].due.Before(d[j].due) }
func (d dues) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].place, d[j].place = i, j
}

// Push implements heap.Interface.
func (d *dues) Push(x any) {
	a, _ := x.(*account)
	a.place = len(*d)
	*d = append(*d, a)
}

// Pop implements heap.Interface.
func (d *dues) Pop() any {
	last := len(*d) - 1
	a := (*d)[last]
	(*d)[last] = nil
	*d = (*d)[:last]
	a.place = -1
	return a
}

// attend has an account be looked at, at a time or before.
func (p *Pool) attend(a *account, at time.Time) {
	switch {
	case a.place < 0:
		a.due = at
		heap.Push(&p.dues, a)
	case at.Before(a.due):
		a.due = at
		heap.Fix(&p.dues, a.place)
	}
}

func (p *Pool) undue(a *account) {
	if a.place >= 0 {
		heap.Remove(&p.dues, a.place)
	}
}
