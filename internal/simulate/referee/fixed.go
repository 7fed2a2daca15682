// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package referee

import (
	"math"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider/bucket"
)

// epsilon absorbs rounding, as bucket's does.
const epsilon = 1e-6

// meter is a true bucket of any shape.
type meter interface {
	Capacity() float64
	Level(now time.Time) float64
	MinLevel() float64
	Fits(now time.Time, cost float64) bool
	Take(now time.Time, cost float64)
	Arrive(now time.Time, cost float64)
	Until(now time.Time, cost float64) (time.Duration, bool)
	UntilFull(now time.Time) time.Duration
	Reset(now time.Time, level float64)
	Tally(now time.Time) bucket.Tally
}

var (
	_ meter = (*bucket.Bucket)(nil)
	_ meter = (*fixed)(nil)
)

// fixed is a bucket that fills at the boundaries of its window and never in between.
type fixed struct {
	capacity float64
	window   time.Duration
	// skew is how far the clock is ahead by which the windows begin.
	skew     time.Duration
	level    float64
	arrived  float64
	minLevel float64
	// boundary is when the bucket fills next.
	boundary time.Time
	tally    bucket.Tally
}

func newFixed(capacity float64, window, skew time.Duration, level float64, now time.Time) *fixed {
	f := &fixed{capacity: max(0, capacity), window: window, skew: skew}
	f.boundary = f.next(now)
	f.Reset(now, level)
	return f
}

// next is the first boundary after now.
func (f *fixed) next(now time.Time) time.Time {
	return now.Add(f.skew).Truncate(f.window).Add(f.window - f.skew)
}

func (f *fixed) fill(now time.Time) {
	if now.Before(f.boundary) {
		return
	}
	windows := float64(now.Sub(f.boundary)/f.window + 1)
	f.tally.Refilled += windows * f.capacity
	f.tally.Wasted += windows*f.capacity - (f.capacity - f.level)
	f.level, f.arrived = f.capacity, 0
	f.boundary = f.next(now)
}

// Capacity is what it holds at a boundary.
func (f *fixed) Capacity() float64 { return f.capacity }

// Level is what is left of this window.
func (f *fixed) Level(now time.Time) float64 {
	f.fill(now)
	return f.level
}

// MinLevel is the lowest level since the last reset.
func (f *fixed) MinLevel() float64 { return f.minLevel }

// Fits says whether a call of cost could go at now.
func (f *fixed) Fits(now time.Time, cost float64) bool { return f.Level(now)+epsilon >= cost }

// Take takes cost, whatever the level; a negative cost gives back.
func (f *fixed) Take(now time.Time, cost float64) {
	f.fill(now)
	f.level = min(f.capacity, f.level-cost)
	f.minLevel = min(f.minLevel, f.level)
	f.tally.Spent += cost
}

// Arrive records that a call of cost was offered. What exceeds the amount within one window is the excess.
func (f *fixed) Arrive(now time.Time, cost float64) {
	f.fill(now)
	f.arrived += cost
	f.tally.MaxExcess = max(f.tally.MaxExcess, f.arrived-f.capacity)
}

// Until is the time until a call of cost fits.
func (f *fixed) Until(now time.Time, cost float64) (time.Duration, bool) {
	switch {
	case f.Fits(now, cost):
		return 0, true
	case cost > f.capacity+epsilon:
		return 0, false
	}
	return f.boundary.Sub(now), true
}

// UntilFull is the time until the bucket is full.
func (f *fixed) UntilFull(now time.Time) time.Duration {
	if f.Level(now)+epsilon >= f.capacity {
		return 0
	}
	return f.boundary.Sub(now)
}

// Reset sets the level and begins a new tally.
func (f *fixed) Reset(now time.Time, level float64) {
	f.fill(now)
	f.level = min(f.capacity, level)
	f.minLevel, f.arrived = f.level, 0
	f.tally = bucket.Tally{Since: now, Start: f.level}
}

// Tally returns the figures up to now.
func (f *fixed) Tally(now time.Time) bucket.Tally {
	f.fill(now)
	return f.tally
}

// slots counts calls under way: they come back, and time alone brings none.
type slots struct {
	n, used, most float64
	tally         bucket.Tally
}

func (s *slots) fits() bool { return s.used+1 <= s.n }

func (s *slots) take(n float64) {
	s.used += n
	s.most = max(s.most, s.used)
	s.tally.Spent += max(n, 0)
	s.tally.MaxExcess = max(s.tally.MaxExcess, math.Max(0, s.used-s.n))
}
