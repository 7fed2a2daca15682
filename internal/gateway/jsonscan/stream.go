// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package jsonscan

import (
	"bytes"
	"strings"
)

const (
	maxKey     = 48
	maxCapture = 16 << 10
	// maxPath is how deep a wanted value may lie: {"choices":[{"finish_reason":…}]} is 3.
	maxPath = 3
	// element is the part of a path that stands for the elements of an array.
	element = "#"
)

// Stream watches a JSON document that passes in pieces and keeps the values at a few paths. Of a path that
// occurs twice the last is kept. Its memory is maxCapture for each path at most; longer values are dropped.
type Stream struct {
	paths    []string
	values   [][]byte
	keys     [maxPath][]byte
	object   [maxPath]bool
	depth    int
	done     bool
	broken   bool
	inString bool
	escaped  bool
	// wantKey: in an object near the top, the next string is a member's name.
	wantKey bool
	inKey   bool
	// active is the path whose value passes now, or -1; it began at activeDepth.
	active      int
	activeDepth int
	over        bool
	partial     []byte
	// names and small are what keys and partial grow in at first.
	names [maxPath][maxKey]byte
	small [256]byte
}

// NewStream returns a stream that keeps the values at paths such as "usage", "response.usage" and
// "choices.#.finish_reason", where # stands for each element of an array.
func NewStream(paths ...string) *Stream {
	s := &Stream{paths: paths, values: make([][]byte, len(paths)), active: -1}
	for i := range s.keys {
		s.keys[i] = s.names[i][:0]
	}
	s.partial = s.small[:0]
	return s
}

// Value is the raw value at the i-th path, nil if none has passed.
func (s *Stream) Value(i int) []byte { return s.values[i] }

// Complete reports whether a whole document has passed.
func (s *Stream) Complete() bool { return s.done && !s.broken }

// Write watches p. What follows a whole document is not looked at.
func (s *Stream) Write(p []byte) {
	for i := 0; i < len(p) && !s.done; {
		if s.inString {
			i = s.text(p, i)
			continue
		}
		if s.active < 0 && s.passive() {
			i = skipPlain(p, i)
			if i == len(p) {
				return
			}
		}
		s.structure(p[i])
		i++
	}
}

// passive reports that only quotes and brackets matter here: deep inside, and in arrays of any depth.
func (s *Stream) passive() bool {
	return s.depth > maxPath || s.depth > 0 && !s.object[s.depth-1]
}

// skipPlain passes digits, commas and colons quickly.
func skipPlain(p []byte, i int) int {
	for i < len(p) && !structural[p[i]] {
		i++
	}
	return i
}

var structural = [256]bool{'"': true, '{': true, '[': true, '}': true, ']': true}

// text passes the part of a string that is in p and returns where it ends.
func (s *Stream) text(p []byte, start int) int {
	i := start
	if s.escaped {
		s.escaped = false
		i++
	}
	end := bytes.IndexByte(p[i:], '"')
	if end < 0 {
		end = len(p)
	} else {
		end += i
	}
	for i < end {
		k := bytes.IndexByte(p[i:end], '\\')
		if k < 0 {
			break
		}
		i += k + 2
		if i > end { // the quote itself is escaped, or the piece ends in the middle
			s.escaped = i > len(p)
			s.keep(p[start:min(i, len(p))])
			return min(i, len(p))
		}
	}
	if end == len(p) {
		s.keep(p[start:])
		return end
	}
	s.keep(p[start : end+1])
	s.inString, s.inKey = false, false
	return end + 1
}

// keep adds text to the name or the value that passes.
func (s *Stream) keep(text []byte) {
	if s.inKey {
		if key := &s.keys[s.depth-1]; len(*key)+len(text) <= maxKey {
			*key = append(*key, text...)
		} else {
			*key = append((*key)[:0], 0) // too long to be wanted, and matches nothing
		}
	}
	if s.active < 0 || s.over {
		return
	}
	if len(s.partial)+len(text) > maxCapture {
		s.over = true
		return
	}
	s.partial = append(s.partial, text...)
}

func (s *Stream) structure(c byte) {
	kind := class[c]
	if kind == comma || kind == closes {
		s.finish()
	}
	if s.active >= 0 {
		s.keep([]byte{c})
	}
	switch kind {
	case quote:
		s.inString = true
		if s.wantKey && s.depth >= 1 && s.depth <= maxPath {
			s.inKey = true
			s.keys[s.depth-1] = s.keys[s.depth-1][:0]
		}
	case opens:
		s.open(c == '{')
	case closes:
		s.close()
	case comma:
		s.wantKey = s.depth >= 1 && s.depth <= maxPath && s.object[s.depth-1]
	case colon:
		s.begin()
	}
}

func (s *Stream) open(object bool) {
	s.depth++
	if s.depth <= maxPath {
		s.object[s.depth-1] = object
		s.wantKey = object
		return
	}
	s.wantKey = false
}

func (s *Stream) close() {
	s.wantKey = false
	if s.depth == 0 {
		s.broken = true
		return
	}
	if s.depth--; s.depth == 0 {
		s.done = true
	}
}

// begin starts to keep a value if its path is wanted.
func (s *Stream) begin() {
	if !s.wantKey || s.active >= 0 || s.depth < 1 || s.depth > maxPath {
		return
	}
	s.wantKey = false
	for i, path := range s.paths {
		if s.at(path) {
			s.active, s.activeDepth, s.over = i, s.depth, false
			s.partial = s.partial[:0]
			return
		}
	}
}

// at reports whether the member whose name has just passed lies at path. Names keep their closing quote.
func (s *Stream) at(path string) bool {
	for level := range s.depth {
		part, rest, more := strings.Cut(path, ".")
		if more != (level < s.depth-1) || s.object[level] == (part == element) {
			return false
		}
		path = rest
		if !s.object[level] {
			continue
		}
		key, closed := bytes.CutSuffix(s.keys[level], []byte{'"'})
		if !closed || string(key) != part {
			return false
		}
	}
	return true
}

// finish ends the value that passes, if the comma or bracket that comes next is its end.
func (s *Stream) finish() {
	if s.active < 0 || s.depth != s.activeDepth {
		return
	}
	if !s.over {
		s.values[s.active] = append(s.values[s.active][:0], bytes.TrimSpace(s.partial)...)
	}
	s.active = -1
}
