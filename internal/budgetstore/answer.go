// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budgetstore

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
)

// receive takes in an answer.
func (k *account) receive(w Draw, a *Answer, now time.Time) {
	if k.seen.Instance == a.Instance && a.Version < k.seen.Version {
		return
	}
	was := k.leased(now)
	k.seen, k.fails, k.recall = *a, 0, a.Recall
	if until := w.sent.Add(Life); until.After(k.until) {
		k.until, k.lost = until, until
	}
	if !was && k.leased(now) {
		k.measure(now)
	}
	// Lanes that nothing waits in begin anew.
	k.bulks = make(map[string]uint64, len(a.Bulks))
	for n, v := range w.Request.Vectors[:min(len(w.Request.Vectors), len(a.Bulks))] {
		k.bulks[v.Key] = a.Bulks[n]
	}
	for i, g := range a.Lines {
		l := k.named(w.Request.Lines[i].Name)
		if l == nil {
			continue
		}
		more := l.hear(g)
		if l.Kind == budget.Slots {
			l.out += more
			k.lease(l, now)
			continue
		}
		k.pool.Supply(l.Name, l.supply(w.Request.Lines[i].Claims, g))
		if more > 0 {
			k.bring(l, k.whose(w, a, i, more), now)
		}
	}
}

// whose says for whom the units are that an answer brought of a line: for the large calls that it grants, and the rest for
// the classes that it was granted to.
func (k *account) whose(w Draw, a *Answer, i int, units float64) []pool.Allotment {
	var to []pool.Allotment
	for n, v := range w.Request.Vectors[:min(len(w.Request.Vectors), len(a.Bulks))] {
		if v.Number > a.Bulks[n] {
			continue
		}
		for _, p := range v.Parts {
			if p.Line == i {
				some := min(p.Units, w.Request.Lines[i].Capacity, units)
				to = append(to, pool.Allotment{Class: v.Class, Lane: w.lanes[n], Units: some})
				units -= some
			}
		}
	}
	return append(to, split(w.Request.Lines[i].Claims, a.Lines[i].Claims, units)...)
}

// split divides units among classes as they were granted; where an earlier answer was lost, as they may expect.
func split(claims []Claim, granted []GrantedClaim, units float64) []pool.Allotment {
	weights, sum := make([]float64, len(claims)), 0.0
	for _, by := range []func(GrantedClaim) float64{
		func(g GrantedClaim) float64 { return g.New }, func(g GrantedClaim) float64 { return g.Fair },
	} {
		for j := range claims[:min(len(claims), len(granted))] {
			weights[j] = by(granted[j])
			sum += weights[j]
		}
		if sum > 0 {
			break
		}
	}
	if sum <= 0 {
		return []pool.Allotment{{Units: units}}
	}
	to := make([]pool.Allotment, len(claims))
	for j := range claims {
		to[j] = pool.Allotment{Class: claims[j].Class, Units: units * weights[j] / sum}
	}
	return to
}

// bring brings into the pool what was granted; what does not fit goes back with the next draw.
func (k *account) bring(l *line, to []pool.Allotment, now time.Time) {
	left := k.pool.Allot(l.Name, to, now)
	for _, a := range to {
		l.out += a.Units
	}
	k.giveBack([]pool.Amount{{Budget: l.Name, Units: left}})
}
