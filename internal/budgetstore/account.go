// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budgetstore

import (
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
)

// account is a drawer's side of one account.
type account struct {
	d     *Drawer
	name  string
	pool  Pool
	lines []*line
	turn  uint64
	// budgets are those that lines were made of.
	budgets []pool.Budget

	seq uint64
	// seen is the newest answer.
	seen Answer
	// until is when the drawer's right ends to what the store grants.
	until time.Time
	// lost is since when there is no lease.
	lost time.Time
	// told is when the last draw began, under that it has not ended yet.
	told  time.Time
	under bool
	fails int
	// hungry says that something waited at the last draw, active that something was spent or held. leaving says that the
	// drawer ends.
	hungry, active, leaving bool
	recall                  bool
	holders                 float64
	// bulks are by lane how many large calls were granted, as far as is known.
	bulks map[string]uint64
}

func newAccount(d *Drawer, name string, now time.Time) *account {
	return &account{d: d, name: name, lost: now}
}

// adopt takes over an account's budgets. Those that went are forgotten.
func (k *account) adopt(a Account, now time.Time) {
	k.pool = a.Pool
	if len(a.Budgets) == len(k.budgets) && (len(a.Budgets) == 0 || &a.Budgets[0] == &k.budgets[0]) {
		return
	}
	k.budgets = a.Budgets
	lines := make([]*line, 0, len(a.Budgets))
	for _, b := range a.Budgets {
		if !b.External || len(lines) >= MaxLines {
			continue
		}
		i := slices.IndexFunc(k.lines, func(l *line) bool { return l.Name == b.Name && l.Kind == b.Kind })
		l := &line{safe: now, keep: -1}
		if i >= 0 {
			l = k.lines[i]
		}
		l.Budget = b
		lines = append(lines, l)
	}
	k.lines = lines
}

func (k *account) leased(now time.Time) bool { return k.until.After(now) }

// due measures what the pool has, and says whether a draw is to be made.
func (k *account) due(now time.Time) bool {
	if len(k.lines) == 0 || k.under && now.Sub(k.told) < Life {
		return false
	}
	after := idle
	switch {
	case k.fails > 0:
		after = min(time.Duration(k.fails)*tries, mostTries)
	case k.seq == 0 || k.seen.Instance != "" && k.seq == 1:
		// The first answer says how late it is; grants come with the second.
		after = 0
	case k.hungry:
		after = soon
	case k.active:
		after = busy
	}
	if since := now.Sub(k.told); k.seq > 0 && since < after {
		if since < soon || k.fails > 0 || k.hungry {
			k.spare(now)
			return false
		}
		// What waits may have come since.
		if !hungry(k.pool.Needs(now)) {
			return false
		}
	}
	return true
}

// spare has a pool live on the share while nothing is heard of the store. What nobody needs then is given up at once: the
// store will not count it much longer.
func (k *account) spare(now time.Time) {
	if !k.leased(now) {
		k.measure(now)
		k.giveBack(k.pool.Surplus(now, 0))
		k.live(k.pool.Needs(now), now)
	}
}

// measure finds out what came and went in the pool since it was last measured.
func (k *account) measure(now time.Time) {
	s := k.pool.Standing(now)
	k.holders = float64(s.Holders)
	for i, l := range k.lines {
		if i < len(s.Budgets) && s.Budgets[i].Name == l.Name {
			l.measure(s.Budgets[i], now)
			continue
		}
		for _, b := range s.Budgets {
			if b.Name == l.Name {
				l.measure(b, now)
			}
		}
	}
}

// draw is the next draw.
func (k *account) draw(now time.Time) Draw {
	k.measure(now)
	keep := kept
	if k.recall || k.leaving || !k.leased(now) {
		keep = 0
	}
	k.giveBack(k.pool.Surplus(now, keep))
	for _, l := range k.lines {
		if l.Kind == budget.Slots {
			l.release(k.recall || k.leaving)
			k.lease(l, now)
		}
	}
	needs := k.pool.Needs(now)
	if !k.leased(now) {
		k.live(needs, now)
	}
	k.seq++
	k.told, k.under = now, true
	r := &Request{
		Account: k.name, Drawer: k.d.cfg.Name, Incarnation: k.d.cfg.Incarnation, Sequence: k.seq,
		Instance: k.seen.Instance, Version: k.seen.Version, Stamp: k.seen.Stamp, Elapsed: now.Sub(k.d.start),
		Lease: max(0, k.until.Sub(now)), Life: Life, Held: k.d.cfg.TTL, Drain: k.d.cfg.Drain,
	}
	k.hungry, k.active = hungry(needs), false
	for _, l := range k.lines {
		r.Lines = append(r.Lines, l.line(needs, k.holders))
		k.active = k.active || l.out > trifle*l.Capacity || l.pace > trifle*l.Capacity
	}
	w, numbers := Draw{Request: r, account: k, sent: now}, map[string]uint64{}
	for i, cost := range needs.Bulk[:min(len(needs.Bulk), MaxVectors)] {
		of := pool.Claimant{}
		if i < len(needs.Of) {
			of = needs.Of[i]
		}
		if v := k.vector(cost, of); len(v.Parts) > 0 {
			numbers[v.Key]++
			v.Number = k.bulks[v.Key] + numbers[v.Key]
			r.Vectors, w.lanes = append(r.Vectors, v), append(w.lanes, of.Lane)
		}
	}
	return w
}

func hungry(n pool.Needs) bool { return len(n.Small)+len(n.Bulk)+len(n.Slots) > 0 }

func (k *account) vector(cost []pool.Amount, of pool.Claimant) Vector {
	v := Vector{Class: of.Class, Key: of.Key}
	for n, c := range cost {
		for i, l := range k.lines {
			if l.Name == c.Budget && c.Units > 0 && l.Kind == budget.Continuous {
				p := Part{Line: i, Units: c.Units}
				if n < len(of.Shares) {
					p.Share = of.Shares[n]
				}
				v.Parts = append(v.Parts, p)
			}
		}
	}
	return v
}

// giveBack counts what was taken out of the pool.
func (k *account) giveBack(amounts []pool.Amount) {
	for _, a := range amounts {
		for _, l := range k.lines {
			if l.Name == a.Budget && a.Units > 0 {
				l.returned += a.Units
				l.out -= a.Units
			}
		}
	}
}

func (k *account) named(name string) *line {
	for _, l := range k.lines {
		if l.Name == name {
			return l
		}
	}
	return nil
}

func (k *account) failed(time.Time) { k.fails = min(k.fails+1, 100) }

// oldest sorts by who was not drawn for longest.
func oldest(accounts []*account) {
	slices.SortStableFunc(accounts, func(a, b *account) int { return a.told.Compare(b.told) })
}
