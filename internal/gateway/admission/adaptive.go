// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import "time"

// adaptive is the part of an account's rate that is used: it is cut when the provider refuses what it should not, and
// comes back by itself. The zero value uses all.
type adaptive struct {
	cut float64 // what is left out, 0 to 1
	// cutAt is when it was cut last, changed when it was cut or came back.
	cutAt, changed time.Time
	counts         counts
}

// factor is the part of the rate that is used.
func (a *adaptive) factor() float64 { return 1 - a.cut }

// refused takes in a refusal of a call sent at sent; it says whether the rate is to be cut. Refusals of calls that were
// sent before the last cut are due to the rate from before.
func (a *adaptive) refused(sent time.Time, unexpected bool, now time.Time) bool {
	if !a.cutAt.IsZero() && !sent.After(a.cutAt) {
		return false
	}
	all, refusals := a.counts.add(true, now)
	return unexpected || refusals >= cutLeast && refusals*100 > all*cutPercent
}

// reduce cuts the rate; it never falls below floor.
func (a *adaptive) reduce(floor float64, now time.Time) {
	a.set(1-max(floor, a.factor()*cutFactor), now)
	a.cutAt = now
}

// excuse takes the refusals up to now for explained otherwise.
func (a *adaptive) excuse(now time.Time) { a.cutAt, a.counts = now, counts{} }

func (a *adaptive) served(now time.Time) { a.counts.add(false, now) }

// set changes the cut: counters start again.
func (a *adaptive) set(cut float64, now time.Time) {
	a.cut, a.changed, a.counts = clamp(cut, 0, 1), now, counts{}
}

// recover gives back what time has earned; it says whether anything changed.
func (a *adaptive) recover(now time.Time) bool {
	if a.cut <= 0 {
		return false
	}
	steps := int(now.Sub(a.changed) / cutEvery)
	if steps < 1 {
		return false
	}
	// The rest of a step is kept: calls come when they come.
	a.set(max(0, a.cut-cutStep*float64(steps)), a.changed.Add(time.Duration(steps)*cutEvery))
	return true
}

// countSlots divide the window of the counts.
const countSlots = 10

// counts are answers and refusals over cutWindow.
type counts struct {
	start time.Time
	slot  int64
	slots [countSlots]struct{ all, refusals int64 }
}

// add counts one, and returns what the window holds. A clock that goes back stays in the latest slot.
func (c *counts) add(refusal bool, now time.Time) (all, refusals int64) {
	if c.start.IsZero() {
		c.start = now
	}
	slot := max(int64(now.Sub(c.start)/(cutWindow/countSlots)), c.slot)
	for i := range min(slot-c.slot, countSlots) {
		c.slots[(slot-i)%countSlots] = struct{ all, refusals int64 }{}
	}
	c.slot = slot
	s := &c.slots[slot%countSlots]
	s.all++
	if refusal {
		s.refusals++
	}
	for i := range c.slots {
		all, refusals = all+c.slots[i].all, refusals+c.slots[i].refusals
	}
	return all, refusals
}
