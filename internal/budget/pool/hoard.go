// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"slices"
	"time"
)

// A large call's grant is a lot that is kept for one call. A holder has one of each lane at a time, gives it back by itself
// when it has not gone within a TTL, and is expelled if it does not: it hears nothing until its lease has ended, and what it
// held counts as spent.

// large is a large call that was granted.
type large struct {
	lane *laneBook
	at   time.Time
	// left is what of it is not spent, as far as is known.
	left []float64
	of   []*book
}

// lend notes that a large call was granted.
func (a *account) lend(c *claim, now time.Time) {
	l := large{lane: c.lane, at: now}
	for i, u := range c.units {
		if u > 0 {
			l.of, l.left = append(l.of, a.books[i]), append(l.left, u)
		}
	}
	a.larges = append(a.larges, l)
}

// spendBulk takes what was spent or given back for the oldest large calls.
func (a *account) spendBulk(k *book, units float64) {
	if len(a.larges) == 0 {
		return
	}
	for i := range a.larges {
		l := &a.larges[i]
		for j := range l.of {
			if l.of[j] == k {
				took := min(l.left[j], units)
				l.left[j] -= took
				units -= took
			}
		}
	}
	a.larges = slices.DeleteFunc(a.larges, func(l large) bool { return l.done() })
}

// done says that a large call has gone: all is spent, or its account has nothing to spend.
func (l *large) done() bool {
	for j, left := range l.left {
		if left > trifle*l.of[j].purse.Capacity && l.of[j].outstanding() > trifle*l.of[j].purse.Capacity {
			return false
		}
	}
	return true
}

// hoards says whether the lane has a large call that was granted and has not gone.
func (a *account) hoards(lane *laneBook) bool {
	for i := range a.larges {
		if a.larges[i].lane == lane {
			return true
		}
	}
	return false
}

// hoardedUntil is when an account is expelled if nothing is heard of its oldest large call; zero if it has none.
func (p *Pool) hoardedUntil(a *account) time.Time {
	if len(a.larges) == 0 || a.expelled {
		return time.Time{}
	}
	// Its own TTL, and one more in which its report may be late.
	return a.larges[0].at.Add(p.longest(2 * p.cfg.TTL))
}

// expel ends an account that hoards, as soon as its lease has ended: it is not renewed any longer.
func (p *Pool) expel(a *account) {
	if at := p.hoardedUntil(a); !at.IsZero() && !at.After(p.now) {
		a.expelled = true
		p.expulsions++
		p.withdraw(a)
	}
}
