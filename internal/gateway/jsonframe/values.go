// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package jsonframe

import "bytes"

// Values is ready to use when zero. Only objects and arrays are values; what else lies between them is
// passed over.
type Values struct {
	value collector
	// depth is that inside the value; 0 between values.
	depth int
	// array: the values are the elements of an array that is open.
	array bool
	// ended: the array, or the last document, is complete.
	ended             bool
	inString, escaped bool
}

// Ended reports that what came is complete: the array is closed, or the document is.
func (v *Values) Ended() bool { return v.ended }

// Write splits p.
func (v *Values) Write(p []byte, h Handler) {
	start := 0 // of what p holds of the value
	for i := 0; i < len(p); {
		if v.inString {
			i = v.text(p, i)
			continue
		}
		if i = skipPlain(p, i); i == len(p) {
			break
		}
		if c := p[i]; v.depth == 0 {
			v.between(c)
			start = i
		} else if v.inside(c) {
			v.value.end(p[start:i+1], h)
		}
		i++
	}
	if v.depth > 0 {
		v.value.add(p[start:], h)
	}
}

// between takes a quote or bracket outside of values.
func (v *Values) between(c byte) {
	switch c {
	case '"':
		v.inString = true
	case '[':
		if v.ended = false; !v.array {
			v.array = true
			return
		}
		v.depth = 1
	case '{':
		v.ended, v.depth = false, 1
	case ']':
		v.ended = v.ended || v.array
		v.array = false
	}
}

// inside takes a quote or bracket of a value and reports whether it ends it.
func (v *Values) inside(c byte) bool {
	switch c {
	case '"':
		v.inString = true
	case '{', '[':
		v.depth++
	default:
		if v.depth--; v.depth == 0 {
			v.ended = !v.array
			return true
		}
	}
	return false
}

// text passes the part of a string that is in p from i on, and returns where it ends.
func (v *Values) text(p []byte, i int) int {
	if v.escaped {
		v.escaped = false
		i++
	}
	for quote := -1; i < len(p); {
		if quote < i {
			if quote = bytes.IndexByte(p[i:], '"'); quote < 0 {
				quote = len(p)
			} else {
				quote += i
			}
		}
		back := bytes.IndexByte(p[i:quote], '\\')
		if back < 0 {
			v.inString = quote == len(p)
			return min(quote+1, len(p))
		}
		i += back + 2
	}
	v.escaped = i > len(p)
	return len(p)
}

var structural = [256]bool{'"': true, '{': true, '[': true, '}': true, ']': true}

func skipPlain(p []byte, i int) int {
	for i < len(p) && !structural[p[i]] {
		i++
	}
	return i
}
