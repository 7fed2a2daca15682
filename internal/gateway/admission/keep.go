// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import "time"

// Keep bounds what a lane keeps of a limit whose share is Fed, while nothing of it waits. What is more is there to borrow, by the
// next Advance.
func (g *Gate) Keep(limit string, lane int, most float64, now time.Time) {
	g.lock()
	defer g.unlock()
	if id, ok := g.sched.Bucket(bucketName(limit)); ok {
		g.sched.Keep(id, lane, most, now)
	}
}
