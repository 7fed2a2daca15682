// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package azureopenai

import (
	"strings"
	"time"
)

// replenished reads API Management's "Quota will be replenished in 2.02:24:18.", which is
// [days.]hours:minutes:seconds; the dot at the end is the sentence's.
func replenished(message string) (time.Duration, bool) {
	const phrase = "replenished in "
	i := strings.Index(message, phrase)
	if i < 0 {
		return 0, false
	}
	rest := message[i+len(phrase):]
	days := uint64(0)
	first, rest, ok := number(rest)
	if ok && strings.HasPrefix(rest, ".") {
		days = first
		first, rest, ok = number(rest[1:])
	}
	if !ok {
		return 0, false
	}
	total := time.Duration(days)*24*time.Hour + time.Duration(first)*time.Hour
	for _, unit := range [...]time.Duration{time.Minute, time.Second} {
		if !strings.HasPrefix(rest, ":") {
			return 0, false
		}
		if first, rest, ok = number(rest[1:]); !ok {
			return 0, false
		}
		total += time.Duration(first) * unit
	}
	return total, true
}

// maxDigits keeps every number far from where the sum of a time span would overflow.
const maxDigits = 4

// number reads the digits at the start of text.
func number(text string) (value uint64, rest string, ok bool) {
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		value = value*10 + uint64(text[n]-'0')
		if n++; n > maxDigits {
			return 0, text, false
		}
	}
	return value, text[n:], n > 0
}
