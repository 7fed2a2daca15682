// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package jsonscan

import "bytes"

// maxDepth bounds nesting, so that no body makes a caller's recursion deep.
const maxDepth = 256

// Scanner walks one JSON document. After the first thing it cannot read every method answers "no more",
// and Err says so; loops therefore end on any input.
type Scanner struct {
	data  []byte
	pos   int
	depth int
	bad   bool
}

// New returns a scanner at the start of data. A byte order mark is skipped.
func New(data []byte) Scanner {
	s := Scanner{data: data}
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		s.pos = 3
	}
	return s
}

// Err reports whether something could not be read.
func (s *Scanner) Err() bool { return s.bad }

// Pos is the offset of the next byte.
func (s *Scanner) Pos() int { return s.pos }

// Since is the text from an offset to the next byte, as it stands.
func (s *Scanner) Since(start int) String { return String{Raw: s.data[start:s.pos]} }

// AtEnd reports whether only space follows.
func (s *Scanner) AtEnd() bool {
	s.space()
	return s.pos >= len(s.data)
}

// Kind is the first byte of the next value, or 0 at the end and after an error.
func (s *Scanner) Kind() byte {
	if s.bad {
		return 0
	}
	s.space()
	if s.pos >= len(s.data) {
		s.bad = true
		return 0
	}
	return s.data[s.pos]
}

func (s *Scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

func (s *Scanner) fail() bool {
	s.bad = true
	return false
}

// Enter goes into the object or array that is next; open is { or [. It is false where another value, or
// nothing, is next, and leaves that value in place.
func (s *Scanner) Enter(open byte) bool {
	if s.Kind() != open {
		return false
	}
	if s.depth == maxDepth {
		return s.fail()
	}
	s.depth++
	s.pos++
	return true
}

// Full reports that nothing further can be entered: what is next can only be skipped.
func (s *Scanner) Full() bool { return s.depth == maxDepth }

// Key returns the next member's name and leaves the scanner at its value; the object's end is consumed and
// answers false. first is true for the first member, and the caller passes the same variable each time.
func (s *Scanner) Key(first *bool) (String, bool) {
	if !s.next('}', first) {
		return String{}, false
	}
	name, ok := s.Text()
	if !ok || s.Kind() != ':' {
		return String{}, s.fail()
	}
	s.pos++
	return name, true
}

// Elem reports whether the array has another element, and leaves the scanner at it.
func (s *Scanner) Elem(first *bool) bool { return s.next(']', first) }

func (s *Scanner) next(end byte, first *bool) bool {
	switch c := s.Kind(); {
	case c == end:
		s.pos++
		s.depth--
		return false
	case *first:
		*first = false
		return !s.bad
	case c == ',':
		s.pos++
		return s.Kind() != 0
	}
	return s.fail()
}

// Text reads the string that is next.
func (s *Scanner) Text() (String, bool) {
	if s.Kind() != '"' {
		return String{}, s.fail()
	}
	start := s.pos + 1
	end := closingQuote(s.data, start)
	if end < 0 {
		return String{}, s.fail()
	}
	s.pos = end + 1
	return String{Raw: s.data[start:end]}, true
}

// closingQuote finds the quote that ends a string whose content begins at start. A quote is escaped if an
// odd run of backslashes stands before it; each run is counted once, so this is linear.
func closingQuote(data []byte, start int) int {
	for at := start; ; {
		i := bytes.IndexByte(data[at:], '"')
		if i < 0 {
			return -1
		}
		quote := at + i
		back := quote
		for back > at && data[back-1] == '\\' {
			back--
		}
		if (quote-back)%2 == 0 {
			return quote
		}
		at = quote + 1
	}
}

// Bool reads true or false; ok is false for any other value, which is skipped.
func (s *Scanner) Bool() (value, ok bool) {
	c := s.Kind()
	s.Skip()
	return c == 't', !s.bad && (c == 't' || c == 'f')
}

// Skip passes the next value.
func (s *Scanner) Skip() bool {
	switch c := s.Kind(); c {
	case '"':
		_, ok := s.Text()
		return ok
	case '{', '[':
		return s.skipNested()
	case 0, '}', ']', ',', ':':
		return s.fail()
	}
	for s.pos < len(s.data) && class[s.data[s.pos]] == plain {
		s.pos++
	}
	return true
}

// skipNested passes an object or array without recursion.
func (s *Scanner) skipNested() bool {
	depth := 0
	for s.pos < len(s.data) {
		switch class[s.data[s.pos]] {
		case quote:
			end := closingQuote(s.data, s.pos+1)
			if end < 0 {
				return s.fail()
			}
			s.pos = end
		case opens:
			depth++
		case closes:
			if depth--; depth == 0 {
				s.pos++
				return true
			}
		}
		s.pos++
	}
	return s.fail()
}
