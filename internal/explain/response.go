// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"net/http"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// Response is one response of a provider.
type Response struct {
	Status int
	Header http.Header
	// Body is decoded: no chunks, no compression.
	Body []byte
	// Received is our clock's time of its receipt.
	Received time.Time
}

// Reading is what a response says.
type Reading struct {
	Class   dialect.Class
	Reading dialect.Reading
	// Failure is set for every class but success.
	Failure dialect.Failure
	// Usage, Complete and Output are a success's.
	Usage    dialect.Usage
	Complete bool
	Output   int64
	// Stream: the body is a stream of events.
	Stream bool
	// InStream: the failure came inside a response that began as a success.
	InStream bool
	// ContentSeen: some of the answer had come before the failure.
	ContentSeen bool
}

// Read reads a response with a dialect, as a gateway does. ops are the operations that it may answer; none
// stands for all that the dialect meters.
func Read(d dialect.Dialect, resp Response, ops ...dialect.Operation) Reading {
	out := Reading{Reading: d.ReadHeaders(resp.Status, resp.Header, resp.Received), Usage: dialect.Unknown()}
	if resp.Status < 200 || resp.Status > 299 {
		out.Failure = d.ReadFailure(resp.Status, resp.Header, resp.Body, &out.Reading)
		out.Class = out.Failure.Class
		return out
	}
	out.Class = dialect.ClassSuccess
	if len(ops) == 0 {
		ops = operations(d)
	}
	out.measure(d, resp, ops)
	return out
}

// measure meters a success as each of the operations and keeps what says most.
func (r *Reading) measure(d dialect.Dialect, resp Response, ops []dialect.Operation) {
	r.Stream = isStream(resp)
	best := -1
	for _, op := range ops {
		m := d.NewMeter(op, resp.Header, dialect.MeterOptions{Stream: r.Stream || op.Stream})
		m.Write(resp.Body)
		m.Close()
		failure, failed := m.StreamFailure()
		said := score(m, failed)
		if said <= best {
			continue
		}
		best = said
		r.Usage, r.Complete, r.Output, r.ContentSeen = m.Usage(), m.Complete(), m.OutputSoFar(), m.ContentSeen()
		r.InStream, r.Failure, r.Class = failed, failure, dialect.ClassSuccess
		if failed {
			r.Class = failure.Class
		}
	}
	r.Reading.Add(r.Failure)
}

// score ranks what a meter found: a body read as what it is not says little.
func score(m dialect.Meter, failed bool) int {
	points, usage := 0, m.Usage()
	for _, count := range [...]int64{usage.Input, usage.Output, usage.CachedRead, usage.CacheWrite, usage.Reasoning} {
		if count >= 0 {
			points += 4
		}
	}
	if failed {
		points += 8
	}
	if m.Complete() {
		points += 2
	}
	if m.OutputSoFar() > 0 {
		points++
	}
	return points
}
