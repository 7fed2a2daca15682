// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// writeGuidance writes the headers of a refusal that say when to come back.
func (c *call) writeGuidance(t throttled) {
	guidance := c.s.opts.Profiles[c.dialect].Guidance
	if t.never || guidance == GuidanceNone {
		return
	}
	setRetryAfter(c.w.Header(), guidance, t.wait)
}

func setRetryAfter(h http.Header, guidance Guidance, wait time.Duration) {
	if guidance == GuidanceMillis || guidance == GuidanceBoth {
		h.Set("Retry-After-Ms", strconv.FormatInt(ceilTo(wait, time.Millisecond), 10))
	}
	if guidance == GuidanceSeconds || guidance == GuidanceBoth {
		h.Set("Retry-After", strconv.FormatInt(ceilTo(wait, time.Second), 10))
	}
}

// ceilTo is d in whole units, rounded up: telling somebody to come back early is a lie.
func ceilTo(d, unit time.Duration) int64 {
	return int64(math.Ceil(float64(d) / float64(unit)))
}

// writeHeader writes limits and status.
func (c *call) writeHeader(status int, contentType string) {
	h := c.w.Header()
	c.status = status
	h.Set("Content-Type", contentType)
	c.processingTime(h)
	if c.s.opts.Profiles[c.dialect].Guidance != GuidanceNone {
		c.api.limitHeaders(h, c, c.s.levels(c))
	}
	if c.fault != nil {
		c.fault.setHeaders(h)
	}
	c.s.countStatus(status)
	told, toldMs, now := h.Get("Retry-After"), h.Get("Retry-After-Ms"), c.s.opts.Now()
	c.note(func(a *Arrival) {
		a.Status, a.RetryAfter, a.RetryAfterMs, a.AnsweredUnixNano = status, told, toldMs, now.UnixNano()
	})
	c.w.WriteHeader(status)
}

// processingTime says how long the provider itself took, so that a client can tell waiting from work.
func (c *call) processingTime(h http.Header) {
	ms := strconv.FormatInt(c.s.opts.Now().Sub(c.started).Milliseconds(), 10)
	h.Set("X-Fake-Processing-Ms", ms)
	if c.dialect == OpenAI {
		h.Set("Openai-Processing-Ms", ms)
	}
}

// typed is a body that is written as it is.
type typed struct {
	contentType string
	body        []byte
}

// encode is a body as it goes over the wire; one that is already bytes is left as it is.
func encode(doc any) typed {
	switch doc := doc.(type) {
	case typed:
		return doc
	case []byte:
		return typed{"application/json", doc}
	default:
		return typed{"application/json", mustMarshal(doc)}
	}
}

// writeJSON writes a document.
func (c *call) writeJSON(status int, doc any) {
	out := encode(doc)
	body := out.body
	if c.p.json != "" && out.contentType == "application/json" {
		out.contentType = c.p.json
	}
	if c.wantsGzip() {
		body = compress(body)
		c.w.Header().Set("Content-Encoding", "gzip")
	}
	c.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	c.writeHeader(status, out.contentType)
	_, _ = c.w.Write(body) // the caller may have left; end notes that
}

func (c *call) wantsGzip() bool {
	asked := c.s.opts.Gzip || c.fault != nil && c.fault.Kind == FaultGzip
	return asked && strings.Contains(c.r.Header.Get("Accept-Encoding"), "gzip")
}

func compress(body []byte) []byte {
	var buf bytes.Buffer
	zw := gzip.NewWriter(&buf)
	_, _ = zw.Write(body) // a bytes.Buffer never fails
	_ = zw.Close()
	return buf.Bytes()
}

// mustMarshal encodes a document of our own, which always can be.
func mustMarshal(doc any) []byte {
	body, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return body
}

// reset ends the connection with a RST, or over HTTP/2 the stream with RST_STREAM.
func (c *call) reset() {
	conn, _, err := http.NewResponseController(c.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tlsConn, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = tlsConn.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
