// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import "time"

// Budget bounds the retries nobody asked for to a part of the recent calls, so that retries cannot keep an
// outage going. The zero value is ready. It is not safe for concurrent use: its owner locks.
type Budget struct {
	started bool
	start   time.Time
	second  int64
	slots   [budgetSeconds]slot
}

type slot struct{ calls, retries int64 }

// Call counts a call; retries of it are not calls.
func (b *Budget) Call(now time.Time) { b.at(now).calls++ }

// Left reports whether one more retry is within the budget.
func (b *Budget) Left(now time.Time) bool {
	b.at(now)
	var calls, retries int64
	for _, s := range b.slots {
		calls += s.calls
		retries += s.retries
	}
	return retries < max(calls*budgetPercent/100, budgetLeast)
}

// Take counts a retry if it is within the budget.
func (b *Budget) Take(now time.Time) bool {
	if !b.Left(now) {
		return false
	}
	b.at(now).retries++
	return true
}

// at is the slot of now, with the slots between cleared. A clock that goes back stays in the latest slot.
func (b *Budget) at(now time.Time) *slot {
	if !b.started {
		b.started, b.start = true, now
	}
	second := max(int64(now.Sub(b.start)/time.Second), b.second)
	for range min(second-b.second, budgetSeconds) {
		b.second++
		b.slots[b.second%budgetSeconds] = slot{}
	}
	if second > b.second { // all slots are clear
		b.second = second
	}
	return &b.slots[b.second%budgetSeconds]
}
