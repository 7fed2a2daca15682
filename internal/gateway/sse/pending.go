// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sse

import "bytes"

// Pending describes the event that has begun and not ended.
type Pending struct {
	// Start is where it began.
	Start int64
	// Data is what is known of its data; valid until the next call.
	Data []byte
	// Foreign: it has lines other than data, or its data is large.
	Foreign bool
}

// Pending returns the unfinished event; ok is false between events, and while only a comment passes.
func (s *Splitter) Pending() (p Pending, ok bool) {
	line := s.withoutMark(s.line)
	inLine := len(line) > 0 && line[0] != ':'
	if !s.open && !inLine {
		return Pending{}, false
	}
	p = Pending{Start: s.start, Data: s.data, Foreign: s.large || s.mode != whole || s.foreign}
	if !s.open {
		p.Start = s.lineStart
	}
	if !inLine {
		return p, true
	}
	value, isData := bytes.CutPrefix(line, dataField)
	switch {
	case !isData:
		p.Foreign = p.Foreign || !bytes.HasPrefix(dataField, line)
	case !s.hasData:
		p.Data = withoutSpace(value)
	}
	return p, true
}

// AfterCR reports that the last byte was a CR whose LF may follow.
func (s *Splitter) AfterCR() bool { return s.skipLF }
