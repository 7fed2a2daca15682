// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"math"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// Config is what is shared, and how.
type Config struct {
	// Budgets are at most 32 with different names.
	// Budgets are at most 512; one holder uses at most 32 of them.
	Budgets []Budget
	// Shadows are at most 1024.
	Shadows []Shadow
	// Lanes are tenant × lane, at most 512. A want of an unknown lane is one of the last.
	Lanes []budget.Lane
	// Groups are the tenants: their weights in what is borrowed, and what of their shares they do not lend.
	Groups []budget.Group
	// Silent is how holders that state nothing (see Use) spend while they hear nothing.
	Silent Outage
	// MaxHolders is for how many holders the safe share is; more may exceed the limit while they hear nothing.
	MaxHolders int
	// Interval is how often holders report. TTL is how long a holder may spend after a report that was answered.
	Interval, TTL time.Duration
	// Drain is how long calls in flight may last: the slots of a silent holder come back after TTL and Drain.
	Drain time.Duration
}

// Budget is one shared bucket.
type Budget struct {
	Name string
	Kind budget.Kind
	// Rate is R in units a second, 0 for slots.
	Rate float64
	// Capacity is B': burst less guard, or the slots.
	Capacity float64
	// Window is the amount's window.
	Window time.Duration
	// SmallCall is what a small call takes: the burst of a safe share, as far as there is room for that of all holders.
	SmallCall float64
	// Outstanding bounds ΣH, so that the next leader knows how much may be out; 0 is half of the capacity. See
	// State: it grows when a call needs more.
	Outstanding float64
	// MaxHolders is for how many holders the budget's safe share is; 0 means Config.MaxHolders.
	MaxHolders int
	// Lanes are those that take of the budget, and their shares of it; nil are all lanes, with their own shares.
	Lanes []LaneShare
	// External says that the budget does not refill by itself: its level rises by what a store gives alone, see
	// Allot. Rate is how fast that is expected to be. Of slots the pool shares those that Lease says it has.
	External bool
}

// LaneShare is a lane's share of one budget.
type LaneShare struct {
	Lane  string
	Share float64
}

// Shadow is charged what its budget is charged for some lanes, and gets back what they give back: a bound on what these
// lanes together take, such as a tenant's borrowing limit. No message names it. It is exact where all lanes of a holder
// are charged or none is; of a holder with both kinds what is spent and returned counts in proportion.
type Shadow struct {
	// Name is unique among budgets and shadows.
	Name string
	// Of is the budget, which is Continuous.
	Of string
	// External has it draw on the store that its budget draws on; else it refills by itself.
	External bool
	// Lanes are those that are charged.
	Lanes []string
	// Rate and Capacity are as a budget's. A call of more than Capacity goes when the shadow is full, and leaves it below
	// zero.
	Rate, Capacity float64
}

// Use is what a holder may touch. What it says of anything else is ignored.
type Use struct {
	// Budgets are at most 32, Lanes at most 64.
	Budgets, Lanes []string
	// Outage is how it spends while it hears nothing.
	Outage Outage
}

// Outage is how a holder spends that has no lease.
type Outage uint8

// The outage modes.
const (
	// OutageSafe: its safe share.
	OutageSafe Outage = iota
	// OutageLastGrant: its safe share, at the rate that it was told last to expect where that is more. The pool leaves that
	// much to it, so what all are told to expect is no more than the rate.
	OutageLastGrant
	// OutageOpen: its limits do not bind it. Nothing can be promised of what it spends; the pool leaves it its safe share.
	OutageOpen
)

// The defaults of the times, and their reasons.
const (
	// interval is short beside a minute's budget and long beside a round trip.
	interval = time.Second
	// ttl lets nine reports in a row be lost.
	ttl = 10 * time.Second
	// drain is how long a stream may run.
	drain = 10 * time.Minute
	// quiet is how many intervals a holder may miss until it is granted nothing more: what it gets may be lost.
	quiet = 3
	// slack is by which part two clocks may differ in rate when they measure a TTL.
	slack = 0.01
)

// Safe is the safe share of each of maxHolders holders: half of what it could have of an equal division, of the rate, and of the
// capacity as far as that is no more than one small call. All silent ones together save no more than half of the capacity, which is
// what the pool leaves to them. Of slots each holder always owns so many whole ones, connected or not; where that is none a holder
// without a lease has one, if there are any.
func Safe(b Budget, maxHolders int) (rate, burst float64) {
	n := float64(b.holders(maxHolders))
	if b.Kind == budget.Slots {
		if each := b.Capacity / (2 * n); each < 1 {
			return 0, each
		}
		return 0, math.Floor(b.Capacity / (2 * n))
	}
	return b.Rate / (2 * n), min(b.SmallCall, b.Capacity/(2*n))
}

// withDefaults makes a configuration usable: no number is NaN, negative or absurd, and its lists are bounded.
func (c Config) withDefaults() Config {
	fill := func(d *time.Duration, standard time.Duration) {
		if *d <= 0 {
			*d = standard
		}
	}
	fill(&c.Interval, interval)
	fill(&c.TTL, ttl)
	fill(&c.Drain, drain)
	c.MaxHolders = max(c.MaxHolders, 1)
	c.Budgets = append([]Budget(nil), c.Budgets[:min(len(c.Budgets), maxPoolBudgets)]...)
	c.Shadows = append([]Shadow(nil), c.Shadows[:min(len(c.Shadows), maxShadows)]...)
	c.Groups = append([]budget.Group(nil), c.Groups[:min(len(c.Groups), maxPoolLanes)]...)
	for i := range c.Budgets {
		b := &c.Budgets[i]
		b.Rate, b.Capacity, b.SmallCall = clean(b.Rate), clean(b.Capacity), clean(b.SmallCall)
		if b.Kind == budget.Slots {
			b.Rate, b.Capacity = 0, math.Floor(b.Capacity)
		}
		if b.Outstanding = min(clean(b.Outstanding), b.Capacity); b.Outstanding == 0 {
			b.Outstanding = b.Capacity / 2
		}
	}
	c.Lanes = append([]budget.Lane(nil), c.Lanes[:min(len(c.Lanes), maxPoolLanes)]...)
	if len(c.Lanes) == 0 {
		c.Lanes = []budget.Lane{{Name: "default", Share: 1}}
	}
	for i := range c.Lanes {
		c.Lanes[i].MaxDepth, c.Lanes[i].MaxBytes, c.Lanes[i].MaxWait = maxAccounts, 0, 0
	}
	return c
}

// budget is a shadow as a budget of its own.
func (s *Shadow) budget(of *purse) Budget {
	b := Budget{
		Name: s.Name, Kind: of.Kind, Rate: clean(s.Rate), Capacity: clean(s.Capacity), Window: of.Window,
		SmallCall: of.SmallCall, MaxHolders: of.MaxHolders, External: s.External && of.External,
	}
	b.Outstanding = b.Capacity / 2
	return b
}

// largest keeps sums far from infinity.
const largest = 1e18

// clean makes a foreign number harmless: what means nothing is 0.
func clean(x float64) float64 {
	if math.IsNaN(x) || x < 0 {
		return 0
	}
	return min(x, largest)
}
