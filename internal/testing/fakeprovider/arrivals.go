// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"net/http"
	"strings"
)

// Arrival is one call that arrived, whatever became of it.
type Arrival struct {
	Seq          uint64  `json:"seq"`
	TimeUnixNano int64   `json:"timeUnixNano"`
	KeyHash      string  `json:"keyHash"`
	Dialect      Dialect `json:"dialect"`
	Operation    string  `json:"operation"`
	Path         string  `json:"path"`
	Model        string  `json:"model,omitempty"`
	Stream       bool    `json:"stream,omitempty"`
	InputTokens  int64   `json:"inputTokens"`
	// AllowedTokens is the output the call allows; OutputTokens what was produced.
	AllowedTokens int64 `json:"allowedTokens,omitempty"`
	OutputTokens  int64 `json:"outputTokens,omitempty"`
	// Verdict is Admitted, Throttled (by a bucket), Fault (by script), Rejected (bad request) or Replayed.
	Verdict string `json:"verdict"`
	Status  int    `json:"status"`
	// Fault is what was played on the call, if anything.
	Fault FaultKind `json:"fault,omitempty"`
	// RetryAfter and RetryAfterMs are what the answer said, and AnsweredUnixNano the last moment before it
	// was written: a call that comes again sooner after that than it was told is early.
	RetryAfter       string `json:"retryAfter,omitempty"`
	RetryAfterMs     string `json:"retryAfterMs,omitempty"`
	AnsweredUnixNano int64  `json:"answeredUnixNano,omitempty"`
	// Headers are those that say who retries, by lower-case name.
	Headers    map[string]string `json:"headers,omitempty"`
	BodyBytes  int64             `json:"bodyBytes"`
	BodySHA256 string            `json:"bodySHA256"`
	// EndedUnixNano is when the answer was over, 0 before; ClientGone that the caller left first.
	EndedUnixNano int64 `json:"endedUnixNano,omitempty"`
	ClientGone    bool  `json:"clientGone,omitempty"`
}

// notedHeaders are kept in arrivals, beside all that begin with headgate-.
var notedHeaders = []string{
	"x-stainless-retry-count", "x-stainless-timeout", "amz-sdk-request", "idempotency-key", "x-request-id",
	"user-agent", "accept-encoding",
}

// maxNoted bounds how many headers an arrival keeps, and how long each may be.
const (
	maxNoted       = 24
	maxNotedLength = 128
)

func noted(h http.Header) map[string]string {
	out := map[string]string{}
	for _, name := range notedHeaders {
		if v := h.Get(name); v != "" {
			out[name] = clip(v, maxNotedLength)
		}
	}
	for name := range h {
		if lower := strings.ToLower(name); strings.HasPrefix(lower, "headgate-") && len(out) < maxNoted {
			out[lower] = clip(h.Get(name), maxNotedLength)
		}
	}
	return out
}

// log records the call's arrival.
func (c *call) log() {
	a := &Arrival{
		Seq: c.number, TimeUnixNano: c.started.UnixNano(), KeyHash: KeyHash(c.key), Dialect: c.dialect,
		Path: clip(c.r.URL.Path, maxNotedLength), Model: clip(c.req.Model, maxModelName), Stream: c.req.Stream,
		InputTokens: c.size.input, AllowedTokens: c.size.allowed, Headers: noted(c.r.Header),
		BodyBytes: c.body.bytes, BodySHA256: c.body.sha256,
	}
	if c.op != nil {
		a.Operation = c.op.name
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.arrival = a
	c.s.log.add(a)
	c.s.counts.calls++
}

// note changes the call's record.
func (c *call) note(change func(*Arrival)) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	change(c.arrival)
}

// Arrivals returns the calls that arrived, oldest first, as they stand now.
func (s *Server) Arrivals() []Arrival {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Arrival, 0, len(s.log.entries))
	s.log.each(func(a *Arrival) { out = append(out, *a) })
	return out
}

// ring keeps the last arrivals.
type ring struct {
	entries []*Arrival
	next    int
	size    int
}

func newRing(size int) ring { return ring{size: size} }

func (r *ring) add(a *Arrival) {
	if len(r.entries) < r.size {
		r.entries = append(r.entries, a)
		return
	}
	r.entries[r.next] = a
	r.next = (r.next + 1) % r.size
}

func (r *ring) each(f func(*Arrival)) {
	for i := range r.entries {
		f(r.entries[(r.next+i)%len(r.entries)])
	}
}
