// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"math"
	"strings"
	"time"
)

// Bounds on what the store believes and keeps.
const (
	// largest is 2^53: up to there float64 counts exactly, and sums of thousands stay finite.
	largest = 1 << 53
	// maxName bounds every name in a report; longer ones are dropped with what they name.
	maxName = 128
	// maxMessage bounds a provider's words.
	maxMessage = 256
	// maxCode bounds a provider's code.
	maxCode = 64
)

// amount is a count or an amount that only a broken or hostile gateway makes absurd: then 0.
func amount(v float64) float64 {
	if !(v > 0) { // NaN too
		return 0
	}
	return min(v, largest)
}

// fraction is above 0 to 1; what says nothing is 1, all.
func fraction(v float64) float64 {
	if !(v > 0 && v < 1) {
		return 1
	}
	return v
}

// level is like amount, and may be negative.
func level(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return max(-largest, min(v, largest))
}

func millis(v uint64) time.Duration {
	const most = uint64(math.MaxInt64 / int64(time.Millisecond))
	return time.Duration(min(v, most)) * time.Millisecond
}

// instant reads a gateway's clock, which may be wrong: never later than now, zero stays zero.
func instant(unixMillis uint64, now time.Time) time.Time {
	if unixMillis == 0 || unixMillis > math.MaxInt64/1000 {
		return time.Time{}
	}
	if t := time.UnixMilli(int64(unixMillis)); t.Before(now) {
		return t
	}
	return now
}

func validName(name string) bool { return name != "" && len(name) <= maxName }

// words cuts what a provider said to its bound, on a rune's edge, in valid UTF-8 without control characters.
func words(s string, most int) string {
	if len(s) > most {
		s = s[:most]
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}

// grow returns by how much value exceeds the largest seen, and remembers it.
func grow(seen *float64, value float64) float64 {
	delta := value - *seen
	if delta <= 0 {
		return 0
	}
	*seen = value
	return delta
}

func bounded[T any](list []T, most int) []T { return list[:min(len(list), most)] }
