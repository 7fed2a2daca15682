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

// around is how much of the text is shown on each side of a find.
const around = 120

// Keys finds a key's mark in text, also in base64 or hexadecimal, and returns where it stands; "" if it is not there.
func Keys(text string) string { return find(text, KeyMark) }

// Any finds either mark.
func Any(text string) string {
	if at := Keys(text); at != "" {
		return at
	}
	return find(text, PromptMark)
}

func find(text, mark string) string {
	for _, form := range forms(mark) {
		if i := strings.Index(text, form); i >= 0 {
			return text[max(0, i-around):min(len(text), i+len(form)+around)]
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
