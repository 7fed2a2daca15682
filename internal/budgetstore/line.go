// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budgetstore

import (
	"math"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
)

// trifle is the part of a capacity below which nothing is counted: it is rounding.
const trifle = 1e-9

// paceTime is over which time what is spent counts as lately.
const paceTime = 2 * time.Second

// line is one budget of an account.
type line struct {
	pool.Budget
	// sigma is one holder's safe share.
	sigma float64
	// got, spent, returned and raised are as in Line.
	got, spent, returned, raised float64
	// out is what the pool and its holders have, as last measured, and what was brought and taken since.
	out float64
	// apart is what holders that hear nothing may be spending in a second.
	apart float64
	// share is the one for the time without a lease, told that there was one. level is what may be brought by it; it is
	// below zero by what was in hand when the lease ended.
	share float64
	told  bool
	level float64
	// lapsed says that the level counts, safe is as of when.
	lapsed bool
	safe   time.Time
	// pace is what is spent in a second, at is as of when.
	pace float64
	at   time.Time
	// standing is what the pool said last.
	standing pool.BudgetStanding
	// keep is how many slots may be had, below 0 without bound; spare were not needed at the last draw.
	keep, spare float64
}

// measure finds what went out of hand since, which is spent, or came in, which is raised.
func (l *line) measure(f pool.BudgetStanding, now time.Time) {
	l.standing = f
	if l.Kind == budget.Slots {
		l.count()
		return
	}
	known := max(0, f.Level) + max(0, f.Held)
	// What an earlier leader granted is in the hands of holders that were not heard of yet.
	out := known + min(max(0, f.Unknown), max(0, l.out-known))
	switch more := out - l.out; {
	case more < 0:
		l.spent -= more
		l.paced(-more, now)
	case more > trifle*l.Capacity:
		l.raised += more
	default:
		out = l.out
	}
	l.out = out
	l.paced(0, now)
	l.apart, l.sigma = f.Apart, f.Safe
}

func (l *line) paced(units float64, now time.Time) {
	if dt := now.Sub(l.at); dt > 0 {
		l.pace *= math.Exp(-dt.Seconds() / paceTime.Seconds())
		l.at = now
	}
	l.pace += units / paceTime.Seconds()
}

// line is the request's part. What is wanted beyond what waits is nothing: holders ask for two intervals ahead.
func (l *line) line(needs pool.Needs, holders float64) Line {
	if l.Kind == budget.Slots {
		return l.slotLine(holders)
	}
	out := Line{
		Name: l.Name, Rate: l.Rate, Capacity: l.Capacity, Small: l.SmallCall,
		Got: l.got, Spent: l.spent, Returned: l.returned, Raised: l.raised,
		Safe: min(holders*l.sigma, l.Rate/2), Burst: l.saves(), Apart: l.apart,
	}
	wants := units(needs.Small, l.Name)
	out.Want, out.Claims = l.got+wants, l.claims(wants)
	for _, c := range out.Claims {
		out.Need = min(l.Rate, out.Need+c.Need)
	}
	return out
}

// claims divides what is wanted, and what was spent of late, among classes as the pool says that they want and had.
func (l *line) claims(wants float64) []Claim {
	pace := l.pace
	if pace <= trifle*l.Rate {
		pace = 0
	}
	of := l.standing.Claims[:min(len(l.standing.Claims), MaxClaims)]
	wanted, lately := 0.0, 0.0
	for _, c := range of {
		wanted += c.Wanted
		lately += c.Lately
	}
	out := make([]Claim, 0, len(of)+1)
	for _, c := range of {
		lack, had := part(wants, c.Wanted, wanted), part(pace, c.Lately, lately)
		out = append(out, Claim{
			Class: c.Class, Share: c.Share, Weight: c.Weight, Unlent: c.Unlent, Lack: lack, Need: min(l.Rate, had+lack),
		})
	}
	if wanted <= 0 && wants > 0 || lately <= 0 && pace > 0 {
		// Nobody says whose it is.
		rest := Claim{Weight: 1, Lack: wants, Need: min(l.Rate, wants+pace)}
		if wanted > 0 {
			rest.Lack, rest.Need = 0, pace
		}
		out = append(out[:min(len(out), MaxClaims-1)], rest)
	}
	return out
}

// part is x of sum of the whole.
func part(whole, x, sum float64) float64 {
	if sum <= 0 {
		return 0
	}
	return whole * x / sum
}

// hear takes in what the store says, and returns what is new.
func (l *line) hear(g Granted) (more float64) {
	l.share, l.told = g.Share, true
	l.keep = g.Keep
	l.lapsed = false
	if more = g.Total - l.got; more <= 0 {
		return 0
	}
	l.got = g.Total
	return more
}

// supply is what the classes of a line may expect.
func (l *line) supply(claims []Claim, g Granted) []pool.Allotment {
	out := make([]pool.Allotment, 0, len(claims))
	for j, c := range claims[:min(len(claims), len(g.Claims))] {
		out = append(out, pool.Allotment{Class: c.Class, Units: g.Claims[j].Fair})
	}
	if len(out) == 0 {
		out = append(out, pool.Allotment{Units: g.Fair})
	}
	return out
}

// units is the amount of a budget.
func units(in []pool.Amount, name string) float64 {
	sum := 0.0
	for _, a := range in {
		if a.Budget == name {
			sum += a.Units
		}
	}
	return sum
}
