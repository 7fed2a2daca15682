// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import "bytes"

// framing is how the events of a stream go over the wire.
type framing interface {
	contentType() string
	// event writes one event, the n-th of the stream counting from 0.
	event(buf *bytes.Buffer, e event, n int)
	// end writes what follows the last event.
	end(buf *bytes.Buffer)
}

// framing is how the call's events go over the wire.
func (c *call) framing() framing {
	if c.op == nil || c.op.framing == nil {
		return sse{}
	}
	return c.op.framing(c)
}

// sse frames server-sent events.
type sse struct {
	// tight leaves out the space after the colon, which is optional.
	tight bool
}

func (sse) contentType() string { return "text/event-stream; charset=utf-8" }

func (s sse) event(buf *bytes.Buffer, e event, _ int) {
	if e.comment != "" {
		buf.WriteString(": " + e.comment + "\n\n")
		return
	}
	if e.name != "" {
		buf.WriteString("event: " + e.name + "\n")
	}
	buf.WriteString("data:")
	if !s.tight {
		buf.WriteByte(' ')
	}
	buf.Write(e.encoded())
	buf.WriteString("\n\n")
}

func (sse) end(*bytes.Buffer) {}

// jsonArray frames events as the elements of one array that grows.
type jsonArray struct{}

func (jsonArray) contentType() string { return googleJSON }

func (jsonArray) event(buf *bytes.Buffer, e event, n int) {
	open := ",\r\n"
	if n == 0 {
		open = "["
	}
	buf.WriteString(open)
	buf.Write(e.encoded())
}

func (jsonArray) end(buf *bytes.Buffer) { buf.WriteString("\n]\n") }

// ndjson frames events as lines.
type ndjson struct{}

func (ndjson) contentType() string { return "application/x-ndjson" }

func (ndjson) event(buf *bytes.Buffer, e event, _ int) {
	buf.Write(e.encoded())
	buf.WriteByte('\n')
}

func (ndjson) end(*bytes.Buffer) {}
