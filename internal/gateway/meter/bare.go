// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import "github.com/headgate-dev/headgate/internal/gateway/dialect"

// bareMeter meters what is said to be server-sent events. Some servers and proxies put a document in their place, or an array of
// them, errors for the most part: no line of an event begins like one.
type bareMeter struct {
	dialect.Meter
	// document reads it; nil once it is known what comes.
	document *documentMeter
	bare     bool
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
	switch first {
	case '{':
		m.Meter, m.bare = m.document, true
	case '[':
		m.Meter = &valueMeter{reading: m.document.reading, whole: true}
	}
	m.document = nil
	return first == '{' || first == '['
}

// ContentSeen says of a document that it is whole, and no error: half of one is none.
func (m *bareMeter) ContentSeen() bool {
	if !m.bare {
		return m.Meter.ContentSeen()
	}
	_, failed := m.StreamFailure()
	return m.Complete() && !failed
}
