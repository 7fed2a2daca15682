// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import "time"

const longest = time.Duration(1<<63 - 1)

// span is min(cap, base·2^(attempt-1)), without overflow.
func (b Backoff) span(attempt int) time.Duration {
	span := max(b.Base, 0)
	limit := max(b.Cap, 0)
	for range min(attempt-1, 63) { // no base doubles more often within a Duration
		if span >= limit-span {
			return limit
		}
		span += span
	}
	return min(span, limit)
}

// least is the least wait of any attempt.
func (b Backoff) least() time.Duration {
	if b.Base <= 0 {
		return leastBackoff
	}
	return min(leastBackoff, b.Base)
}

// draw is the wait of an attempt; u is from [0, 1].
func (b Backoff) draw(attempt int, u float64) time.Duration {
	span := b.span(attempt)
	wait := scale(span, u)
	if b.Equal {
		wait = span/2 + scale(span-span/2, u)
	}
	return max(wait, b.least())
}

// scale is d·factor, saturating; factor is not negative.
func scale(d time.Duration, factor float64) time.Duration {
	scaled := float64(d) * factor
	if scaled >= float64(longest) {
		return longest
	}
	return time.Duration(scaled)
}

// add saturates; neither is negative.
func add(a, b time.Duration) time.Duration {
	if a > longest-b {
		return longest
	}
	return a + b
}
