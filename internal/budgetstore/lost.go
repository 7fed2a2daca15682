// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budgetstore

import (
	"math"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
)

// Without a lease a pool lives on the share that the store left to its drawer. The store counts what was in hand as
// outstanding for a while yet, so that comes off the share first: what is in hand and what is brought are together never
// more than the larger of what was in hand and what the share has brought since.

// live brings into the pool what its share allows of what is needed.
func (k *account) live(needs pool.Needs, now time.Time) {
	for _, l := range k.lines {
		if l.Kind != budget.Continuous {
			l.release(false)
			if !now.Before(k.until.Add(k.d.cfg.TTL)) {
				l.abandon()
			}
			k.lease(l, now)
			continue
		}
		k.pool.Supply(l.Name, []pool.Allotment{{Units: l.lapse(k.until, k.holders, now)}})
		if l.level <= 0 {
			continue
		}
		wants := units(needs.Small, l.Name)
		for _, cost := range needs.Bulk {
			wants += units(cost, l.Name)
		}
		if more := min(wants, l.level); more > trifle*l.Capacity {
			l.level -= more
			l.raised += more
			k.bring(l, []pool.Allotment{{Units: more}}, now)
		}
	}
}

// saves is what a share may have in hand unspent. As the shares of all drawers bring half of the rate at the most, a drawer saves
// no more of the capacity than its share is of the rate either: together that is half of the capacity.
func (l *line) saves() float64 {
	return min(max(l.SmallCall, l.Rate/2*soon.Seconds()), l.Capacity)
}

// lapse brings the level of the share up to now. It began to count when the lease ended. A drawer that never heard of the
// store has what its holders would have on their own.
func (l *line) lapse(lease time.Time, holders float64, now time.Time) (perSecond float64) {
	if !l.lapsed {
		l.lapsed, l.level = true, -l.out
		if l.safe.Before(lease) {
			l.safe = lease
		}
	}
	rate := l.share
	if !l.told {
		rate = min(holders*l.sigma, l.Rate/2)
	}
	rate = max(0, rate-l.apart)
	if dt := now.Sub(l.safe).Seconds(); dt > 0 {
		l.level = min(l.level+rate*dt, l.saves(), l.Capacity*rate/max(l.Rate, rate, math.SmallestNonzeroFloat64))
		l.safe = now
	}
	return rate
}
