// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package bucket

import (
	"math"
	"time"
)

// epsilon absorbs rounding: a call told to come back in 9 s must be admitted at 9.000000000 s, though
// 9 × 6,666.67 is a few ulps short of 60,000.
const epsilon = 1e-6

// Bucket is a continuous token bucket: level(t) = min(capacity, level(t0) + rate·(t-t0)). The level may
// fall below zero when a charge is settled; it is then refilled from there.
type Bucket struct {
	capacity  float64
	perSecond float64
	level     float64
	at        time.Time
	// fresh is the virtual bucket for MaxExcess: it starts full, takes every arrival, refused or not.
	fresh    float64
	tally    Tally
	minLevel float64
}

// Tally is what has happened to a bucket since it was made or reset.
type Tally struct {
	// Since is when the measurement began.
	Since time.Time
	// Start is the level then.
	Start float64
	// Refilled is rate × elapsed; Wasted is the part of it that found the bucket full.
	Refilled float64
	Wasted   float64
	// Spent is what was taken, less what was given back.
	Spent float64
	// MaxExcess is the largest value, over all intervals, of arrivals - rate·length - capacity.
	MaxExcess float64
}

// New returns a bucket that is at level at now.
func New(capacity, perSecond, level float64, now time.Time) *Bucket {
	b := &Bucket{capacity: max(0, capacity), perSecond: max(0, perSecond), at: now}
	b.Reset(now, level)
	return b
}

// Capacity is the largest level.
func (b *Bucket) Capacity() float64 { return b.capacity }

// Level refills up to now and returns the level.
func (b *Bucket) Level(now time.Time) float64 {
	b.refill(now)
	return b.level
}

// MinLevel is the lowest level since the last reset.
func (b *Bucket) MinLevel() float64 { return b.minLevel }

// Fits says whether a call of cost could go at now.
func (b *Bucket) Fits(now time.Time, cost float64) bool {
	return b.Level(now)+epsilon >= cost
}

// Take takes cost, whatever the level; a negative cost gives back.
func (b *Bucket) Take(now time.Time, cost float64) {
	b.refill(now)
	b.level = min(b.capacity, b.level-cost)
	b.tally.Spent += cost
	b.minLevel = min(b.minLevel, b.level)
}

// Arrive records that a call of cost was offered, for MaxExcess alone.
func (b *Bucket) Arrive(now time.Time, cost float64) {
	b.refill(now)
	b.fresh -= cost
	if excess := -b.fresh; excess > b.tally.MaxExcess+epsilon {
		b.tally.MaxExcess = excess
	}
}

// Until is the time from now until a call of cost fits, rounded up to a nanosecond. ok is false where it
// never will.
func (b *Bucket) Until(now time.Time, cost float64) (wait time.Duration, ok bool) {
	missing := cost - b.Level(now) - epsilon
	switch {
	case missing <= 0:
		return 0, true
	case cost > b.capacity+epsilon || b.perSecond == 0:
		return 0, false
	}
	return nanoseconds(missing / b.perSecond), true
}

// UntilFull is the time from now until the bucket is full.
func (b *Bucket) UntilFull(now time.Time) time.Duration {
	missing := b.capacity - b.Level(now)
	if missing <= epsilon || b.perSecond == 0 {
		return 0
	}
	return nanoseconds(missing / b.perSecond)
}

// Reset sets the level and begins a new tally.
func (b *Bucket) Reset(now time.Time, level float64) {
	if now.After(b.at) {
		b.at = now
	}
	b.level = min(b.capacity, level)
	b.minLevel = b.level
	b.fresh = b.capacity
	b.tally = Tally{Since: now, Start: b.level}
}

// Tally returns the figures up to now.
func (b *Bucket) Tally(now time.Time) Tally {
	b.refill(now)
	return b.tally
}

func (b *Bucket) refill(now time.Time) {
	elapsed := now.Sub(b.at)
	if elapsed <= 0 {
		return
	}
	b.at = now
	gain := b.perSecond * elapsed.Seconds()
	b.tally.Refilled += gain
	b.tally.Wasted += max(0, b.level+gain-b.capacity)
	b.level = min(b.capacity, b.level+gain)
	b.fresh = min(b.capacity, b.fresh+gain)
}

// nanoseconds converts seconds, rounding up and saturating.
func nanoseconds(seconds float64) time.Duration {
	ns := math.Ceil(seconds * float64(time.Second))
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(ns)
}
