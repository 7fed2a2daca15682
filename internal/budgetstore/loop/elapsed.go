// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package loop

import "time"

// elapsed makes a clock count the time for which the host was suspended: the monotonic one stands still meanwhile, and a
// lease does not. The wall clock tells; that it was set forward looks the same, and costs a lease at the worst.
type elapsed struct {
	last  time.Time
	slept time.Duration
}

const (
	// noticed is the least suspension that is noticed.
	noticed = 50 * time.Millisecond
	// longestSleep is longer than any lease.
	longestSleep = time.Hour
)

// at is now with what was slept.
func (e *elapsed) at(now time.Time) time.Time {
	if !e.last.IsZero() {
		e.gap(now.Round(0).Sub(e.last.Round(0)) - now.Sub(e.last))
	}
	e.last = now
	return now.Add(e.slept)
}

// gap is by how much the wall clock went on beyond the monotonic one.
func (e *elapsed) gap(by time.Duration) {
	if by > noticed {
		e.slept += min(by, longestSleep)
	}
}
