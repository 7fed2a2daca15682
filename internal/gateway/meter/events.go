// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"github.com/headgate-dev/headgate/internal/gateway/jsonscan"
	"github.com/headgate-dev/headgate/internal/gateway/sse"
)

// reader reads one event of one API.
type reader func(t *tally, name, data []byte) (usageChunk bool)

// eventMeter meters an event stream.
type eventMeter struct {
	tally
	read  reader
	split sse.Splitter
	large *jsonscan.Stream
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
	usageChunk := m.read(&m.tally, e.Name, e.Data)
	// The same test as while it was unfinished, or it would depend on the cut whether it goes.
	if usageChunk && m.strip != nil && !e.Foreign && mayBeUsageChunk(e.Data) {
		m.strip.cut(e.Start, e.End)
	}
}

// largePaths are the members of large events that the readers look at.
var largePaths = []string{"type", "usage", "error", "response.usage", "response.error", "message.usage"}

// Large implements sse.Handler.
func (m *eventMeter) Large(piece []byte) {
	if m.large == nil {
		m.large = jsonscan.NewStream(largePaths...)
	}
	m.large.Write(piece)
}

// LargeEnd implements sse.Handler. The length of a large event says nothing about its tokens, for it may
// be an image, so it counts as one delta unless it reports usage.
func (m *eventMeter) LargeEnd(e sse.Event) {
	if m.large == nil {
		return
	}
	m.read(&m.tally, e.Name, members(m.large))
	m.content = true
	m.large = nil
}

// members makes a small event of what was kept of a large one.
func members(s *jsonscan.Stream) []byte {
	var v [6]string
	for i := range v {
		if v[i] = string(s.Value(i)); v[i] == "" {
			v[i] = "null"
		}
	}
	return []byte(`{"type":` + v[0] + `,"usage":` + v[1] + `,"error":` + v[2] +
		`,"response":{"usage":` + v[3] + `,"error":` + v[4] + `},"message":{"usage":` + v[5] + `}}`)
}
