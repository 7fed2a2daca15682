// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"bytes"
	"iter"
	"net/http"
	"time"
)

// events are what a stream consists of.
type events iter.Seq[event]

// event is one server-sent event.
type event struct {
	name string // of the event: field, "" for none
	data any    // encoded as JSON, or as it is if []byte
	// tokens of output it carries; content says that it carries any of the answer.
	tokens  int64
	content bool
	// preamble events come before the answer is begun.
	preamble bool
}

// appendTo writes the event as it goes over the wire.
func (e event) appendTo(buf *bytes.Buffer) {
	if e.name != "" {
		buf.WriteString("event: " + e.name + "\n")
	}
	data, ok := e.data.([]byte)
	if !ok {
		data = mustMarshal(e.data)
	}
	buf.WriteString("data: ")
	buf.Write(data)
	buf.WriteString("\n\n")
}

// streamer sends a stream's events, paced, charged, and broken off where a fault says so.
type streamer struct {
	*call
	buf     bytes.Buffer
	content int // content events sent
}

func (c *call) writeStream() {
	if !c.sleep(c.s.opts.FirstByte) || c.fault != nil && !c.sleep(c.fault.firstByte()) {
		return
	}
	st := &streamer{call: c}
	h := c.w.Header()
	h.Set("Cache-Control", "no-cache")
	c.writeHeader(http.StatusOK, "text/event-stream; charset=utf-8")
	for e := range c.op.stream(c) {
		if c.fault != nil && c.fault.breaks(st, e) {
			return
		}
		if !st.send(e) {
			return
		}
	}
}

// send waits as long as the event takes to produce, and writes it.
func (st *streamer) send(e event) bool {
	wait := st.s.opts.PerToken * time.Duration(e.tokens)
	if st.fault != nil && e.content {
		wait += st.fault.betweenChunks()
	}
	if !st.sleep(wait) {
		return false
	}
	if e.tokens > 0 {
		st.s.settle(st.call, e.tokens)
	}
	if e.content {
		st.content++
	}
	st.queue(e)
	if st.fault != nil && st.fault.holdsBack(st) {
		return true
	}
	return st.flush()
}

func (st *streamer) queue(e event) { e.appendTo(&st.buf) }

func (st *streamer) flush() bool {
	_, err := st.w.Write(st.buf.Bytes())
	st.buf.Reset()
	return err == nil && http.NewResponseController(st.w).Flush() == nil
}

// chunks cuts an answer of so many tokens into the pieces a stream sends, each with its place and length:
// one token each, but never more than maxChunks pieces.
func chunks(tokens int64) iter.Seq2[int64, int64] {
	per := max(1, (tokens+maxChunks-1)/maxChunks)
	return func(yield func(at, n int64) bool) {
		for at := int64(0); at < tokens; at += per {
			if !yield(at, min(per, tokens-at)) {
				return
			}
		}
	}
}

const maxChunks = 10_000
