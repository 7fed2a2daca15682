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
	fair float64
}

// measure finds what went out of hand since, which is spent, or came in, which is raised.
func (l *line) measure(f pool.BudgetStanding, now time.Time) {
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
	out := Line{
		Name: l.Name, Slots: l.Kind == budget.Slots, Rate: l.Rate, Capacity: l.Capacity, Small: l.SmallCall,
		Got: l.got, Spent: l.spent, Returned: l.returned, Raised: l.raised,
		Safe: min(holders*l.sigma, l.Rate/2), Burst: min(l.SmallCall, l.Capacity), Apart: l.apart,
	}
	wants := units(needs.Small, l.Name)
	out.Want = l.got + wants
	if wants > 0 || l.pace > trifle*l.Rate {
		out.Need = min(l.Rate, l.pace+wants)
	}
	return out
}

// hear takes in what the store says, and returns what is new.
func (l *line) hear(g Granted) (more float64) {
	l.share, l.told, l.fair = g.Share, true, g.Fair
	l.lapsed = false
	if more = g.Total - l.got; more <= 0 {
		return 0
	}
	l.got = g.Total
	return more
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
