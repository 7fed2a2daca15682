// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package figures

import "time"

// leastSpan is the least time that traffic is said to cover; reports are a second apart.
const leastSpan = time.Second

// activity remembers when traffic began: of each slot of the window, the earliest instant at which
// something that was counted in it can have happened.
type activity struct{ began ring }

func newActivity() activity { return activity{began: newRecent()} }

// mark says that something happened between from and now.
func (a *activity) mark(from, now time.Time) {
	slot := a.began.newest(now)
	at := float64(from.UnixMilli())
	if *slot == 0 || at < *slot {
		*slot = at
	}
}

// span is the time from the first traffic of the window to now, at most the window; 0 without traffic.
//
// What came before a pause of less than the window is still in the window, and so is the pause: a policy
// that was used for one minute and idle for four has its amounts of five minutes divided by five. A policy
// that was idle for four and used for one has them divided by one.
func (a *activity) span(now time.Time) time.Duration {
	a.began.turn(now)
	first := 0.0
	for _, at := range a.began.slots {
		if at > 0 && (first == 0 || at < first) {
			first = at
		}
	}
	if first == 0 {
		return 0
	}
	return min(max(now.Sub(time.UnixMilli(int64(first))), leastSpan), Window)
}
