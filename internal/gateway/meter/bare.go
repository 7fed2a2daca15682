// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"bytes"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// bareMeter meters what is said to be server-sent events, or was asked for as a stream of them and has the type of something else.
// Some servers and proxies put a document in their place, or an array of them, errors for the most part, and some send events
// as text or as JSON: no line of an event begins like a document.
type bareMeter struct {
	dialect.Meter
	// document reads it; nil once it is known what comes.
	document *documentMeter
	bare     bool
	// untyped: its type is none of events; found, that it begins like them all the same.
	untyped, found bool
}

// FoundEvents says of a response whose type is none of a stream that it is one, as its content shows: like all of them it says
// itself when it is over.
func FoundEvents(m dialect.Meter) bool {
	b, ok := m.(*bareMeter)
	return ok && b.found && b.ContentSeen()
}

func (m *bareMeter) Write(p []byte) []byte {
	if m.document == nil {
		return m.Meter.Write(p)
	}
	first := p
	for len(first) > 0 && blank(first[0]) {
		first = first[1:]
	}
	if len(first) == 0 || !m.begin(first[0]) {
		return m.Meter.Write(p)
	}
	// What stands before a document is none of it, in whatever pieces it comes.
	m.Meter.Write(first) // it holds nothing back
	return p
}

// blank is what may stand before anything: white space, control bytes, and the bytes of a byte order mark. Each is told by itself,
// since a piece may end within a mark.
func blank(b byte) bool { return b <= ' ' || b == 0xef || b == 0xbb || b == 0xbf }

// begin decides by the first byte that is not blank what comes, and says whether it is no events.
func (m *bareMeter) begin(first byte) bool {
	events := first != '{' && first != '['
	switch {
	case m.untyped:
		m.found = bytes.IndexByte(fieldsBegin, first) >= 0
		if events = m.found; !events {
			m.Meter = m.document
		}
	case first == '{':
		m.Meter, m.bare = m.document, true
	case first == '[':
		m.Meter = &valueMeter{reading: m.document.reading, whole: true}
	}
	m.document = nil
	return !events
}

// fieldsBegin are what the lines of events begin with: data, event, id, retry, and a comment's colon. No JSON begins so.
var fieldsBegin = []byte("deir:")

// ContentSeen says of a document that it is whole, and no error: half of one is none.
func (m *bareMeter) ContentSeen() bool {
	if !m.bare {
		return m.Meter.ContentSeen()
	}
	_, failed := m.StreamFailure()
	return m.Complete() && !failed
}
