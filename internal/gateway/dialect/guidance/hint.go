// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"strings"
	"time"
)

// maxHintText bounds the prose that is searched.
const maxHintText = 4 << 10

// told are what waits stand behind that are told of a repeat, in the prose of providers and of those who copy them.
var told = []string{"try again in ", "try again after ", "retry in ", "retry after "}

// asides may be told of something else: of an approval, of what the server does itself, of another limit than the one that
// refused. Each counts only where nothing before it says a wait. What waited in vain ("wait for 600s exceeded") and
// connections that were reset are no advice at all.
var asides = [...][]string{
	{"please wait ", "please wait for "},
	{
		"retrying in ", "resets in ", "resets after ", "will reset in ", "will reset after ", "will be reset in ", "will be reset after ",
		"limit reset in ", "limit reset after ", "limits reset in ", "limits reset after ", "quota reset in ", "quota reset after ",
	},
}

// vague are words that may stand before such a wait.
var vague = [...]string{"about ", "approximately ", "around ", "another ", "at least "}

// Told is the longest wait before a repeat that prose gives.
func Told(texts ...string) (wait time.Duration, ok bool) { return longest(texts, told) }

// Advice is the wait that prose gives, as providers usually word it: the longest before a repeat, else the longest of
// what may mean one.
func Advice(texts ...string) (wait time.Duration, ok bool) {
	wait, ok = Told(texts...)
	for i := 0; !ok && i < len(asides); i++ {
		wait, ok = longest(texts, asides[i])
	}
	return wait, ok
}

func longest(texts, phrases []string) (wait time.Duration, ok bool) {
	for _, text := range texts {
		if said, found := Hint(text, phrases...); found {
			wait, ok = max(wait, said), true
		}
	}
	return wait, ok
}

// Hint finds the longest wait that prose gives after one of the phrases ("try again in 1h2m3s", "retry
// after 1 second"); phrases are in lower case. A number without a unit is none.
func Hint(text string, phrases ...string) (wait time.Duration, ok bool) {
	text = asciiLower(text[:min(len(text), maxHintText)])
	for _, phrase := range phrases {
		for rest := text; ; {
			i := strings.Index(rest, phrase)
			if i < 0 {
				break
			}
			rest = rest[i+len(phrase):]
			if value, valid := spokenDuration(exactly(rest)); valid {
				wait, ok = max(wait, value), true
			}
		}
	}
	return wait, ok
}

// exactly is text without the words that may stand before a duration.
func exactly(text string) string {
	text = strings.TrimLeft(text, " ~")
	for _, word := range vague {
		text = strings.TrimPrefix(text, word)
	}
	return text
}

// spokenDuration reads a duration whose terms may be apart, as in "1 hour, 20 minutes and 5 seconds"; each is less than
// what stands before it, so that the next figure of a sentence is none.
func spokenDuration(text string) (wait time.Duration, ok bool) {
	for range maxTerms {
		term, rest, found := leadingDuration(text)
		if !found || ok && term >= wait {
			break
		}
		wait, ok = min(wait, Longest-term)+term, true
		text = strings.TrimLeft(strings.TrimPrefix(rest, ","), " ")
		text = strings.TrimPrefix(text, "and ")
	}
	return wait, ok
}

// asciiLower keeps every byte where it is, which strings.ToLower does not.
func asciiLower(text string) string {
	out := []byte(text)
	for i, c := range out {
		if c >= 'A' && c <= 'Z' {
			out[i] = c + 'a' - 'A'
		}
	}
	return string(out)
}

// DateHint reads "… on 2026-07-01 at 00:00 UTC" after phrase.
func DateHint(text, phrase string, reference time.Time) (time.Duration, bool) {
	const layout = "2006-01-02 at 15:04 UTC"
	text = text[:min(len(text), maxHintText)]
	i := strings.Index(asciiLower(text), phrase)
	if i < 0 {
		return 0, false
	}
	rest := strings.TrimLeft(text[i+len(phrase):], " ")
	at, err := time.Parse(layout, rest[:min(len(layout), len(rest))])
	return until(at, reference), err == nil
}

// SecondsHint reads a JSON number of seconds.
func SecondsHint(raw string) (time.Duration, bool) { return Number(raw, time.Second) }

// Number reads a number of units as error documents give waits, in a text or not; exponents, signs and all else that a
// number of JSON may have are none.
func Number(text string, unit time.Duration) (time.Duration, bool) {
	return decimal(strings.Trim(text, "\" "), unit)
}
