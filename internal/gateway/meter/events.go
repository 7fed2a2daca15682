// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import "github.com/headgate-dev/headgate/internal/gateway/sse"

// eventMeter meters server-sent events.
type eventMeter struct {
	reading
	split sse.Splitter
	strip *stripper
}

func (m *eventMeter) Write(p []byte) []byte {
	if m.strip == nil {
		m.split.Write(p, m)
		return p
	}
	m.strip.begin(m.split.Offset(), p)
	m.split.Write(p, m)
	return m.strip.pass(&m.split, p)
}

func (m *eventMeter) Close() []byte {
	m.closing = true
	if m.strip == nil {
		m.split.Close(m)
		return nil
	}
	m.strip.begin(m.split.Offset(), nil)
	m.split.Close(m)
	return m.strip.rest()
}

// Event implements sse.Handler.
func (m *eventMeter) Event(e sse.Event) {
	usageChunk := m.event(e.Name, e.Data)
	// The same test as while it was unfinished, or it would depend on the cut whether it goes.
	if usageChunk && m.strip != nil && !e.Foreign && mayBeUsageChunk(e.Data) {
		m.strip.cut(e.Start, e.End)
	}
}

// LargeEnd implements sse.Handler.
func (m *eventMeter) LargeEnd(e sse.Event) { m.endLarge(e.Name) }
