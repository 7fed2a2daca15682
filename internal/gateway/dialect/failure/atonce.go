// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package failure

import "strings"

// atOnce begins the words for how many calls there may be at once.
const atOnce = "concurren"

// rates are words of limits of a time. What a refusal names first is what refused; what follows is advice or a list of all
// limits.
var rates = [...]string{
	"(rpm", "(tpm", "(rpd", "(tpd", "(rps", " rpm", " tpm", " rpd", " tpd", "per min", "per sec", "per hour", "per day", "per month",
	"per-min", "per-sec", "per-hour", "per-day",
	"/min", "/sec", "/hour", "/day", "token rate limit", "token limit", "request rate limit", "call rate limit",
}

// advising are parts of words that make a sentence one of advice: to come with fewer calls at once says nothing of what
// refused.
var advising = [...]string{
	"reduc", "lower", "decreas", "fewer", "increas", "higher", "rais", "upgrad", "adjust", "consider", "for more ", "limit your ",
	"limit the ", "limiting ",
}

// AtOnce reports whether a refusal is of how many calls there may be at once: no bucket lacks anything then, and no
// level is told. Where in doubt it is not, for a bucket that lacks something must not be passed over.
func AtOnce(d Document) bool {
	text := strings.ToLower(d.Message[:min(len(d.Message), maxProse)])
	for _, rate := range rates {
		text, _, _ = strings.Cut(text, rate)
	}
	for sentence := range strings.FieldsFuncSeq(text, endsSentence) {
		before, _, found := strings.Cut(sentence, atOnce)
		if found && !holds(before, advising[:]) {
			return true
		}
	}
	return false
}

func endsSentence(r rune) bool { return strings.ContainsRune(".;!?\n", r) }
