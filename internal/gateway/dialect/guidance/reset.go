// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package guidance

import "time"

// A bare number below 1e9 is seconds from now, below 1e11 (eleven digits, which a Duration cannot hold)
// seconds since 1970, else milliseconds since 1970.
const (
	leastEpochSeconds  = 1_000_000_000
	epochSecondsDigits = 11
)

// reset reads a reset header: RFC 3339, a duration with units, or a bare number. -1 means "not stated".
func reset(text string, reference time.Time) (time.Duration, bool) {
	text = trim(text)
	if text == "-1" {
		return 0, false
	}
	if at, ok := moment(text); ok {
		return until(at, reference), true
	}
	if wait, ok := decimal(text, time.Second); ok {
		return bare(text, wait, reference), true
	}
	return duration(text)
}

// bare gives a bare number its meaning; seconds is its value as seconds.
func bare(text string, seconds time.Duration, reference time.Time) time.Duration {
	switch {
	case seconds < leastEpochSeconds*time.Second:
		return seconds
	case digitsLen(text) <= epochSecondsDigits:
		return sinceEpoch(text, time.Second, reference)
	}
	return sinceEpoch(text, time.Millisecond, reference)
}

func sinceEpoch(text string, unit time.Duration, reference time.Time) time.Duration {
	sinceEpoch, ok := decimal(text, unit)
	if !ok || sinceEpoch >= Longest {
		return Longest
	}
	return until(time.Unix(0, 0).Add(sinceEpoch), reference)
}
