// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import "time"

// proven is the most that the provider's bucket can have by all reports together: each bounds it at its time, and from
// then on it refills and what is sent is taken off. No report of an earlier moment lifts a level above it, whatever
// others spent in between; one of a later moment ends it, for buckets are filled at once as well, and limits raised.
type proven struct {
	most float64
	at   time.Time
	// bounded is when the latest bound was told.
	bounded time.Time
	// send is the last send before the latest bound: only later ones give back what they did not cost.
	send uint64
}

// refill brings the bound up to now.
func (p *proven) refill(rate, limit float64, now time.Time) {
	if dt := now.Sub(p.at); dt > 0 {
		p.most, p.at = p.most+rate*dt.Seconds(), now
	}
	p.most = min(p.most, limit)
}

// bound takes in a report: between least and most is there now. It returns how far a level may be lifted; inside is what
// is left to the bound then.
func (p *proven) bound(least, most, inside float64, sent time.Time, send uint64) float64 {
	// Reports are whole numbers: by less than one nothing is contradicted.
	contradicts := least > p.most+1+p.most*rounding
	if most < p.most || contradicts && !sent.Before(p.bounded) {
		p.most, p.bounded, p.send = most, p.at, send
	} else if contradicts {
		return p.most - inside
	}
	return min(least, p.most)
}

// giveBack takes in that a send cost less than was taken off for it, or more.
func (p *proven) giveBack(amount float64, send uint64) {
	if send > p.send {
		p.most += amount
	}
}
