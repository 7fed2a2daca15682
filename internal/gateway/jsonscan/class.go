// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package jsonscan

// The classes of bytes outside strings; the zero value is part of a number or word.
const (
	plain = iota
	quote
	opens
	closes
	comma
	colon
	blank
)

var class = [256]uint8{
	'"': quote, '{': opens, '[': opens, '}': closes, ']': closes, ',': comma, ':': colon,
	' ': blank, '\t': blank, '\n': blank, '\r': blank,
}
