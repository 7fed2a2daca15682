// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import "time"

// elapsed makes a clock count the time for which the host was suspended: the monotonic one stands still meanwhile, and a lease
// does not. The wall clock tells; that it was set forward looks the same, and costs a lease at the worst.
type elapsed struct {
	last time.Time
	// wall is last by the wall clock, in nanoseconds.
	wall  int64
	slept time.Duration
}

const (
	// noticed is the least suspension that is noticed: less than clocks may differ by within a lease.
	noticed = 50 * time.Millisecond
	// longestSleep is longer than any lease.
	longestSleep = time.Hour
)

// at is now with what was slept. Times without monotonic part pass as they are.
func (e *elapsed) at(now time.Time) time.Time {
	wall := now.UnixNano()
	if !e.last.IsZero() {
		e.pass(time.Duration(wall-e.wall), now.Sub(e.last))
	}
	e.last, e.wall = now, wall
	if e.slept == 0 {
		return now
	}
	return now.Add(e.slept)
}

// pass takes in how much the wall clock and the monotonic one have moved on.
func (e *elapsed) pass(wall, monotonic time.Duration) {
	if gap := wall - monotonic; gap > noticed {
		e.slept += min(gap, longestSleep)
	}
}
