// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import "github.com/headgate-dev/headgate/internal/gateway/jsonframe"

// Value implements jsonframe.Handler.
func (r *reading) Value(v []byte) { r.event(nil, v) }

// LargeEnd implements jsonframe.Handler.
func (r *reading) LargeEnd() { r.endLarge(nil) }

// lineMeter meters a stream of one document a line.
type lineMeter struct {
	reading
	lines jsonframe.Lines
}

func (m *lineMeter) Write(p []byte) []byte {
	m.lines.Write(p, &m.reading)
	return p
}

func (m *lineMeter) Close() []byte {
	m.closing = true
	m.lines.Close(&m.reading)
	return nil
}

// valueMeter meters documents in an array or behind one another, and a single one.
type valueMeter struct {
	reading
	values jsonframe.Values
	// whole: the end of the array, or of the document, is the response's end, and no event in it.
	whole bool
}

func (m *valueMeter) Write(p []byte) []byte {
	m.values.Write(p, &m.reading)
	if m.whole {
		m.complete = m.values.Ended()
	}
	return p
}

// Close counts a whole answer as content, though nothing in it is text.
func (m *valueMeter) Close() []byte {
	m.content = m.content || m.complete && !m.failed
	return nil
}
