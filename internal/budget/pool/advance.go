// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// Advance grants what can be granted by now. It is to be called after the reports of a tick, and when Next says.
func (p *Pool) Advance(now time.Time) {
	p.tick(now)
	p.flush()
	if !p.leads() {
		return
	}
	p.regrant()
	p.askAnew()
	p.flush()
	p.admit()
	p.flush()
	p.call()
	p.foretell()
}

// admit grants what the levels allow.
func (p *Pool) admit() {
	for {
		p.decided = p.sched.Advance(p.now, p.decided[:0])
		if len(p.decided) == 0 {
			return
		}
		for i, call := range p.decided {
			p.decided[i] = nil
			p.decide(call)
		}
	}
}

// decide books what became of a queued claim.
func (p *Pool) decide(call *budget.Call) {
	c, ok := call.Owner.(*claim)
	if !ok || c.call != call {
		return
	}
	p.enqueued(c, -1)
	if call.Verdict().State == budget.Admitted && p.granted(c) {
		p.queue(c)
	}
}

// call finds out whether a bulk call waits for what holders do not need: P may not fill up to its cost.
func (p *Pool) call() {
	p.recall = len(p.parked) > 0
	for _, c := range p.bulks {
		p.recall = p.recall || p.blocked(c)
	}
}

func (p *Pool) blocked(c *claim) bool {
	for i, u := range c.units {
		if u <= 0 {
			continue
		}
		if b := c.account.books[i].purse; u > p.room(b)-b.kept {
			return true
		}
		for _, s := range c.charged[i] {
			if min(u, s.Capacity) > p.room(s)-s.kept {
				return true
			}
		}
	}
	return false
}

// crowded is from how many waiting claims on it is not worth finding out when the next may go.
const crowded = 64

// Next is when Advance is due if nothing is reported before.
func (p *Pool) Next(now time.Time) (time.Time, bool) {
	p.tick(now)
	soonest := p.now.Add(pace)
	at, ok := soonest, true
	if p.asking <= crowded && len(p.putOffs) == 0 {
		at, ok = p.sched.Next(p.now)
	}
	if ok && at.Before(soonest) {
		at = soonest
	}
	if end, ends := p.ends(); ends && (!ok || end.Before(at)) {
		return end, true
	}
	return at, ok
}
