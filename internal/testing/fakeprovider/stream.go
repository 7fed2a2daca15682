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

// event is one piece of a stream.
type event struct {
	name string // its type where the framing has one, "" for none
	data any    // encoded as JSON, or as it is if []byte
	// comment is sent in place of data where the framing has comments.
	comment string
	// exception events end the stream with a failure where the framing knows those.
	exception bool
	// tokens of output it carries; content says that it carries any of the answer.
	tokens  int64
	content bool
	// preamble events come before the answer is begun.
	preamble bool
}

// encoded is the data as it goes over the wire.
func (e event) encoded() []byte {
	if data, ok := e.data.([]byte); ok {
		return data
	}
	return mustMarshal(e.data)
}

// streamer sends a stream's events, paced, charged, and broken off where a fault says so.
type streamer struct {
	*call
	frames  framing
	buf     bytes.Buffer
	queued  int // events
	content int // content events sent
}

func (c *call) writeStream() {
	if !c.sleep(c.s.opts.FirstByte) || c.fault != nil && !c.sleep(c.fault.firstByte()) {
		return
	}
	st := &streamer{call: c, frames: c.framing()}
	h := c.w.Header()
	h.Set("Cache-Control", "no-cache")
	c.writeHeader(http.StatusOK, st.frames.contentType())
	for e := range c.op.stream(c) {
		if c.fault != nil && c.fault.breaks(st, e) {
			return
		}
		if !st.send(e) {
			return
		}
	}
	st.frames.end(&st.buf)
	st.complete = st.flush() && c.r.Context().Err() == nil
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

func (st *streamer) queue(e event) {
	st.frames.event(&st.buf, e, st.queued)
	st.queued++
}

func (st *streamer) flush() bool {
	_, err := st.w.Write(st.buf.Bytes())
	st.buf.Reset()
	return err == nil && http.NewResponseController(st.w).Flush() == nil
}

// pieces are what a stream sends of an answer, each with the tokens it costs. Reasoning is done before the
// first, unseen.
func (c *call) pieces() iter.Seq2[string, int64] {
	return func(yield func(text string, tokens int64) bool) {
		unseen := c.size.reasoning
		for at, n := range chunks(c.visible()) {
			if !yield(words(at, n), n+unseen) {
				return
			}
			unseen = 0
		}
		if unseen > 0 {
			yield("", unseen)
		}
	}
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
