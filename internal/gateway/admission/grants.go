// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import "time"

// Levels appends the levels of the declared limits, in the route's order.
func (g *Gate) Levels(levels []float64, now time.Time) []float64 {
	g.lock()
	defer g.unlock()
	return g.sched.Levels(g.ids, levels, now)
}

// Balance is the level of a declared limit, 0 for one that is unknown.
func (g *Gate) Balance(limit string, now time.Time) float64 {
	g.lock()
	defer g.unlock()
	if id, ok := g.sched.Bucket(bucketName(limit)); ok {
		return g.sched.Level(id, now)
	}
	return 0
}

// Lower lowers the level of a limit, if it is above that.
func (g *Gate) Lower(limit string, level float64, now time.Time) {
	g.lock()
	defer g.unlock()
	if id, ok := g.sched.Bucket(bucketName(limit)); ok {
		g.sched.Lower(id, level, now)
	}
}

// Feed adds to the level of a limit whose share is Fed, as the credit of a lane (below 0: of none); units below zero are
// taken back.
// What waits is decided by the next Advance.
func (g *Gate) Feed(limit string, lane int, units float64, now time.Time) {
	g.lock()
	defer g.unlock()
	if id, ok := g.sched.Bucket(bucketName(limit)); ok {
		g.sched.Feed(id, lane, units, now)
	}
}
