// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import "math"

// A share of a limit may be smaller than a call that the limit allows. Such a call is not impossible: while it is a
// committed head the bucket fills to its cost instead of to the capacity, at the share's own rate. So over any time
// no more passes than the rate and the larger of capacity and call.

const (
	// wantFor is how much longer than told a call may stay away and still find what was collected for it: its
	// wait again by this part, and rounding to whole seconds.
	wantFor   = 0.25
	wantExtra = int64(2e9)
)

// want collects for a call that was told to come back after so many seconds, so that it was told the truth.
func (b *bucket) want(amount float64, clock int64, wait float64) {
	if math.IsInf(wait, 1) || amount < b.wanted && clock < b.wantedUntil {
		return
	}
	b.wanted, b.wantedUntil = amount, clock+nanoseconds(wait*(1+wantFor))+wantExtra
}

// reneed finds the largest cost above the capacity that is still collected.
func (s *Scheduler) reneed(b *bucket) {
	b.need = 0
	for _, q := range s.active {
		if q.head == nil {
			continue
		}
		if k := q.find(b); k >= 0 && q.head.call.holds[k].amount > b.Capacity {
			b.need = max(b.need, q.head.call.holds[k].amount)
		}
	}
}

// trim gives up what was collected for a call that is gone.
func (b *bucket) trim() {
	if top := b.top(); b.Kind == Continuous && b.level > top {
		b.level, b.ceiling = top, min(b.ceiling, top)
		b.back()
	}
}
