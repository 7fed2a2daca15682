// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import "strings"

// Text is the answer of so many tokens that every call gets, as JSON or in pieces. Each word says where it
// stands, so that whoever compares notices a piece that is lost, doubled or out of place.
func Text(tokens int64) string { return words(0, tokens) }

// words are n words of an answer from its word at on: three letters that count, and a space.
func words(at, n int64) string {
	const letters = 26
	var b strings.Builder
	b.Grow(int(n) * bytesPerToken)
	for i := at; i < at+n; i++ {
		for _, digit := range [...]int64{i / letters / letters, i / letters, i} {
			b.WriteByte('a' + byte(digit%letters))
		}
		b.WriteByte(' ')
	}
	return b.String()
}
