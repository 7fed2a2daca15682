// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"bytes"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// bareMeter meters what is said to be server-sent events. Some servers and proxies put a document in their place, or an array of
// them, errors for the most part: no line of an event begins like one.
type bareMeter struct {
	dialect.Meter
	// document reads it; nil once it is known what comes.
	document *documentMeter
	bare     bool
}

func (m *bareMeter) Write(p []byte) []byte {
	if m.document != nil {
		m.begin(p)
	}
	return m.Meter.Write(p)
}

// begin decides by the first byte that is no blank, nor of a byte order mark.
func (m *bareMeter) begin(p []byte) {
	first := bytes.TrimLeftFunc(p, func(r rune) bool { return r <= ' ' || r == '\ufeff' || r == '\ufffd' })
	if len(first) == 0 {
		return
	}
	switch first[0] {
	case '{':
		m.Meter, m.bare = m.document, true
	case '[':
		m.Meter = &valueMeter{reading: m.document.reading, whole: true}
	}
	m.document = nil
}

// ContentSeen says of a document that it is whole, and no error: half of one is none.
func (m *bareMeter) ContentSeen() bool {
	if !m.bare {
		return m.Meter.ContentSeen()
	}
	_, failed := m.StreamFailure()
	return m.Complete() && !failed
}
