// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"strings"
	"time"
)

// ProtoDuration reads the JSON form of a protobuf duration: seconds with at most nine digits behind the dot, and
// the unit "s", which must not be missing. Negative ones are 0.
func ProtoDuration(text string) (time.Duration, bool) {
	number, ok := strings.CutSuffix(text, "s")
	if _, fraction, _ := strings.Cut(number, "."); !ok || len(fraction) > 9 {
		return 0, false
	}
	return decimal(number, time.Second)
}

// GoDuration reads a whole compound duration (1h2m3.5s, 373.8ms). A number without a unit is none.
func GoDuration(text string) (time.Duration, bool) { return duration(trim(text)) }

// Moment reads the wait until a time in RFC 3339; without a reference there is none.
func Moment(text string, reference time.Time) (time.Duration, bool) {
	at, ok := moment(trim(text))
	if !ok || reference.IsZero() {
		return 0, false
	}
	return until(at, reference), true
}
