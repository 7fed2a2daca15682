// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sse

import (
	"bytes"
	"strings"
)

// Pending describes the event that has begun and not ended.
type Pending struct {
	// Start is where it began.
	Start int64
	// Data is what is known of its data; valid until the next call.
	Data []byte
	// Foreign: it has lines that make it foreign, see Event, or its data is large.
	Foreign bool
}

// Pending returns the unfinished event; ok is false between events, and while only a comment passes.
func (s *Splitter) Pending() (p Pending, ok bool) {
	line := s.withoutMark(s.line)
	inLine := len(line) > 0 && line[0] != ':' && !s.inMark()
	if !s.open && !inLine {
		return Pending{}, false
	}
	p = Pending{Start: s.start, Data: s.data, Foreign: s.large || s.mode != whole || s.foreign}
	if !s.open {
		p.Start = s.lineStart + s.mark(s.line)
	}
	if !inLine {
		return p, true
	}
	value, isData := bytes.CutPrefix(line, dataField)
	switch {
	case !isData:
		p.Foreign = p.Foreign || !plain(line)
	case !s.hasData:
		p.Data = withoutSpace(value)
	}
	return p, true
}

// inMark reports that what has come may be the beginning of a byte order mark, which belongs to no event.
func (s *Splitter) inMark() bool { return !s.started && bytes.HasPrefix(byteOrderMark, s.line) }

// plain reports whether a line that has begun may be one that makes no event foreign.
func plain(line []byte) bool {
	for _, begins := range [...]string{"data:", "event: " + defaultName, "event:" + defaultName} {
		if strings.HasPrefix(begins, string(line)) {
			return true
		}
	}
	return bytes.HasPrefix(line, []byte("id:")) || string(line) == "i" || string(line) == "id"
}

// AfterCR reports that the last byte was a CR whose LF may follow.
func (s *Splitter) AfterCR() bool { return s.skipLF }
