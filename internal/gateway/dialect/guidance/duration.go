// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"strings"
	"time"
)

const day = 24 * time.Hour

// maxTerms bounds a compound duration: 1d2h3m4s5ms6us7ns has seven.
const maxTerms = 8

var units = [...]struct {
	name string
	unit time.Duration
}{
	// Longer names first, so that "ms" is not read as "m".
	{"milliseconds", time.Millisecond},
	{"millisecond", time.Millisecond},
	{"seconds", time.Second},
	{"second", time.Second},
	{"secs", time.Second},
	{"sec", time.Second},
	{"minutes", time.Minute},
	{"minute", time.Minute},
	{"mins", time.Minute},
	{"min", time.Minute},
	{"hours", time.Hour},
	{"hour", time.Hour},
	{"days", day},
	{"day", day},
	{"ms", time.Millisecond},
	{"us", time.Microsecond},
	{"µs", time.Microsecond},
	{"μs", time.Microsecond},
	{"ns", time.Nanosecond},
	{"s", time.Second},
	{"m", time.Minute},
	{"h", time.Hour},
	{"d", day},
}

// duration reads a whole compound duration such as 6m0s, 2m59.56s, 547ms or 1d2h.
func duration(text string) (time.Duration, bool) {
	wait, rest, ok := leadingDuration(text)
	if !ok || rest != "" {
		return 0, false
	}
	return wait, true
}

// leadingDuration reads the duration at the start of text. Spaces may stand between numbers and units, as
// in "2 seconds"; a number without a unit is none.
func leadingDuration(text string) (wait time.Duration, rest string, ok bool) {
	for range maxTerms {
		term, after, found := leadingTerm(text)
		if !found {
			break
		}
		wait = min(wait, Longest-term) + term
		text, ok = after, true
	}
	return wait, text, ok
}

func leadingTerm(text string) (time.Duration, string, bool) {
	number := text[:numberLen(text)]
	if number == "" {
		return 0, text, false
	}
	after := strings.TrimLeft(text[len(number):], " ")
	for _, u := range units {
		if len(after) < len(u.name) || !strings.EqualFold(after[:len(u.name)], u.name) {
			continue
		}
		if rest := after[len(u.name):]; rest == "" || !letter(rest[0]) {
			term, ok := decimal(number, u.unit)
			return term, rest, ok
		}
	}
	return 0, text, false
}

// numberLen is the length of DIGIT+(.DIGIT+)? at the start of text; a dot that ends a sentence is not in it.
func numberLen(text string) int {
	n := digitsLen(text)
	if n > 0 && n+1 < len(text) && text[n] == '.' {
		if more := digitsLen(text[n+1:]); more > 0 {
			return n + 1 + more
		}
	}
	return n
}

func digitsLen(text string) int {
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	return n
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
