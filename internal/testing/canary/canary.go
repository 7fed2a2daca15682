// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package canary

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// The marks. A key's is in every key of a test, a prompt's in every prompt that must not be shown.
const (
	KeyMark    = "c4n4ryKey"
	PromptMark = "c4n4ryPrompt"
)

// Key is a key with the mark at both ends.
func Key(name string) string { return "sk-" + KeyMark + "-" + name + "-" + KeyMark }

// Prompt is text with the mark on both sides.
func Prompt(text string) string { return PromptMark + " " + text + " " + PromptMark }

// spelled are the marks' forms, and longest is more than any of them has.
var spelled = map[string][]string{KeyMark: forms(KeyMark), PromptMark: forms(PromptMark)}

const longest = 64

// around is a find with some of the text on each side.
func around(text string, at, length int) string {
	const sides = 120
	return text[max(0, at-sides):min(len(text), at+length+sides)]
}

// Keys finds a key's mark in text, also in base64 or hexadecimal, and returns where it stands; "" if it is not there.
func Keys(text string) string { return find(text, KeyMark) }

// Any finds either mark.
func Any(text string) string {
	if at := Keys(text); at != "" {
		return at
	}
	return find(text, PromptMark)
}

// shapes are secrets that cannot be marked, since others make them: private keys, and the tokens of ServiceAccounts.
var shapes = []string{"PRIVATE KEY-----", "eyJhbGciOi"}

// Secrets finds either mark, a private key or a token.
func Secrets(text string) string {
	for _, shape := range shapes {
		if i := strings.Index(text, shape); i >= 0 {
			return around(text, i, len(shape))
		}
	}
	return Any(text)
}

func find(text, mark string) string {
	for _, form := range spelled[mark] {
		if i := strings.Index(text, form); i >= 0 {
			return around(text, i, len(form))
		}
	}
	return ""
}

// forms are the spellings of a mark: base64 has three, by where the mark begins.
func forms(mark string) []string {
	out := []string{mark, hex.EncodeToString([]byte(mark))}
	for shift := range 3 {
		whole := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(" ", shift) + mark))
		// Of the characters at the ends, some bits are the neighbours'.
		first := (shift*8 + 5) / 6
		last := (shift + len(mark)) * 8 / 6
		out = append(out, whole[first:last])
	}
	return out
}
