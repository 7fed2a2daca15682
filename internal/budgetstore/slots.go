// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budgetstore

import (
	"math"
	"time"
)

// Slots are leased: a pool shares those that the store let its drawer have, gives back what it needs no longer, and what others
// wait for as its calls end. What a drawer has that is heard no longer the store counts as in use until no call can be.

// count finds how many slots are in use. More than there are had somebody before: holders that an earlier leader had granted
// them, or that went by their share.
func (l *line) count() {
	if more := l.standing.Held - l.out; more > 0 {
		l.raised += more
		l.out = l.standing.Held
	}
}

// release gives back what was needed neither now nor at the draw before, or all that is not needed now.
func (l *line) release(all bool) {
	needed := l.standing.Held + l.standing.Wanted
	if l.keep >= 0 {
		all = true
		needed = min(needed, max(l.standing.Held, l.keep))
	}
	spare := max(0, math.Floor(l.out-needed))
	back := min(spare, l.spare)
	if all {
		back = spare
	}
	l.spare = spare - back
	l.returned += back
	l.out -= back
}

// abandon gives up what is not in use, though calls wait for it: the store gives it to others when it counts on the drawer no
// longer, and what is in hand then must be calls that began before.
func (l *line) abandon() {
	if idle := l.out - l.standing.Held; idle > 0 {
		l.returned += idle
		l.out -= idle
	}
	l.spare = 0
}

// lease has the pool share what there is.
func (k *account) lease(l *line, now time.Time) {
	k.pool.Lease(l.Name, l.allowed(k.until, k.d.cfg.TTL, k.holders, now), now)
}

// allowed is how many slots a pool may share. Without a lease the store counts what was in hand, and leaves the share beside
// it; it may give what was in hand to others when the calls that began in the holders' leases have ended.
func (l *line) allowed(until time.Time, ttl time.Duration, holders float64, now time.Time) float64 {
	switch {
	case until.After(now) && l.keep >= 0:
		return min(l.out, l.keep)
	case until.After(now):
		return l.out
	case until.Add(ttl).After(now):
		return max(l.out, l.alone(holders))
	}
	return l.alone(holders)
}

// alone is how many there are without a store, beside those that holders own. Where none owns any each has one, as without a
// pool; the store keeps as many for a drawer that is silent, but cannot take them from others first.
func (l *line) alone(holders float64) float64 {
	if l.standing.Safe > 0 || holders <= 0 {
		return 0
	}
	return max(1, min(holders, math.Floor(l.standing.Capacity/2)))
}

// slotLine is the request's part about slots.
func (l *line) slotLine(holders float64) Line {
	out := Line{
		Name: l.Name, Slots: true, Capacity: l.standing.Capacity, Got: l.got, Returned: l.returned, Raised: l.raised,
		Whole: l.standing.Unknown <= 0, Safe: l.alone(holders),
	}
	out.Want = l.got + max(0, math.Ceil(l.standing.Held+l.standing.Wanted-l.out))
	for _, c := range l.standing.Claims[:min(len(l.standing.Claims), MaxClaims)] {
		claim := Claim{Class: c.Class, Share: c.Share, Weight: c.Weight, Need: c.Wanted}
		out.Claims = append(out.Claims, claim)
		out.Need += c.Wanted
	}
	if rest := l.standing.Held + l.standing.Wanted - out.Need; rest > 0 {
		// They are kept for holders that are not heard.
		out.Claims = append(out.Claims[:min(len(out.Claims), MaxClaims-1)], Claim{Weight: 1, Need: rest})
		out.Need += rest
	}
	return out
}
