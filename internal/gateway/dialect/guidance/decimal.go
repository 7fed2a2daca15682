// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"math/bits"
	"strings"
	"time"
)

// Longest is what huge values saturate to: the whole seconds of the longest Duration.
const Longest = 9_223_372_036 * time.Second

// decimal reads -?DIGIT+(.DIGIT+)? in units. Anything else that a float parser takes (NaN, Inf, hex,
// exponents, +, _) is malformed. Negative values are 0, huge ones saturate.
func decimal(text string, unit time.Duration) (time.Duration, bool) {
	text, negative := strings.CutPrefix(text, "-")
	whole, fraction, dotted := strings.Cut(text, ".")
	if !digits(whole) || dotted && !digits(fraction) {
		return 0, false
	}
	if negative {
		return 0, true
	}
	units := uint64(0)
	for i := range len(whole) {
		units = units*10 + uint64(whole[i]-'0')
		if units > uint64(Longest/unit) {
			return Longest, true
		}
	}
	total := units*uint64(unit) + part(fraction, unit)
	return time.Duration(min(total, uint64(Longest))), true
}

// part is 0.fraction of a unit, rounded up to the nanosecond.
func part(fraction string, unit time.Duration) uint64 {
	const exact = 18 // digits that fit an uint64
	value, scale, rest := uint64(0), uint64(1), false
	for i := range len(fraction) {
		if i >= exact {
			rest = rest || fraction[i] != '0'
			continue
		}
		value = value*10 + uint64(fraction[i]-'0')
		scale *= 10
	}
	hi, lo := bits.Mul64(value, uint64(unit))
	quotient, remainder := bits.Div64(hi, lo, scale) // value < scale, so this cannot overflow
	if remainder > 0 || rest {
		quotient++
	}
	return quotient
}

func digits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}

// trim removes the optional space around a field value.
func trim(text string) string { return strings.Trim(text, " \t") }
