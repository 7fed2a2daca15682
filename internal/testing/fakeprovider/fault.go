// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// FaultKind is a way to misbehave.
type FaultKind string

// The kinds of fault.
const (
	// FaultThrottle: 429 in the dialect's shape, with RetryAfter, RetryAfterMs or, if neither, no guidance,
	// FirstByteMillis after the call arrived. Gemini's body tells that time too.
	FaultThrottle FaultKind = "Throttle"
	// FaultOverload: 529, 503, 498 or 429 in the dialect's shape.
	FaultOverload FaultKind = "Overload"
	// FaultQuota: the account's money is spent.
	FaultQuota FaultKind = "InsufficientQuota"
	// FaultRespond: Status, Headers and Body; without a body, the dialect's for the status.
	FaultRespond FaultKind = "Respond"
	// FaultRejectStreamOptions: 400 for a call with stream_options; matches no other call.
	FaultRejectStreamOptions FaultKind = "RejectStreamOptions"
	// FaultStreamOverload: an overload event inside a 200 stream, after AfterContent content events.
	FaultStreamOverload FaultKind = "StreamOverload"
	// FaultReset: RST after AfterContent content events; before any answer if that is 0.
	FaultReset FaultKind = "Reset"
	// FaultTruncate: the stream ends cleanly after AfterContent content events, without its last ones.
	FaultTruncate FaultKind = "Truncate"
	// FaultSlow: FirstByteMillis before the answer, ChunkMillis before each content event.
	FaultSlow FaultKind = "Slow"
	// FaultHang: nothing for FirstByteMillis, then the connection closes.
	FaultHang FaultKind = "Hang"
	// FaultGzip: JSON is compressed for this call.
	FaultGzip FaultKind = "Gzip"
)

// Fault is one scripted misbehaviour, for the next Count calls that match.
type Fault struct {
	Kind FaultKind `json:"kind"`
	// Count of calls; 1 if 0, without end if negative.
	Count int `json:"count,omitempty"`
	// Dialect, Model, Key (KeyHash) and Stream narrow which calls match; empty matches all.
	Dialect Dialect `json:"dialect,omitempty"`
	Model   string  `json:"model,omitempty"`
	Key     string  `json:"key,omitempty"`
	Stream  *bool   `json:"stream,omitempty"`

	Status       int                 `json:"status,omitempty"`
	Headers      map[string][]string `json:"headers,omitempty"`
	Body         string              `json:"body,omitempty"`
	RetryAfter   string              `json:"retryAfter,omitempty"`
	RetryAfterMs string              `json:"retryAfterMs,omitempty"`

	AfterContent int `json:"afterContent,omitempty"`
	// OneWrite sends the last content event and what follows it in one write.
	OneWrite        bool  `json:"oneWrite,omitempty"`
	FirstByteMillis int64 `json:"firstByteMillis,omitempty"`
	ChunkMillis     int64 `json:"chunkMillis,omitempty"`
}

// Bounds of a fault's fields.
const (
	maxFaultMillis = int64(24 * time.Hour / time.Millisecond)
	maxFaultBody   = 1 << 20
	maxFaultHeader = 64
)

// Validate refuses a fault that cannot be played.
func (f *Fault) Validate() error {
	switch f.Kind {
	case FaultThrottle, FaultOverload, FaultQuota, FaultRejectStreamOptions, FaultStreamOverload, FaultReset,
		FaultTruncate, FaultSlow, FaultHang, FaultGzip:
	case FaultRespond:
		if f.Status < 200 || f.Status > 599 {
			return fmt.Errorf("fakeprovider: fault %s: status %d is not between 200 and 599", f.Kind, f.Status)
		}
	default:
		return fmt.Errorf("fakeprovider: unknown fault %q", f.Kind)
	}
	for _, ms := range []int64{f.FirstByteMillis, f.ChunkMillis} {
		if ms < 0 || ms > maxFaultMillis {
			return fmt.Errorf("fakeprovider: fault %s: %d ms is not between 0 and a day", f.Kind, ms)
		}
	}
	if len(f.Body) > maxFaultBody || len(f.Headers) > maxFaultHeader {
		return fmt.Errorf("fakeprovider: fault %s: body or headers too large", f.Kind)
	}
	return nil
}

// Inject queues faults; the first that matches a call is played.
func (s *Server) Inject(faults ...Fault) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults)+len(faults) > s.opts.MaxFaults {
		return fmt.Errorf("fakeprovider: more than %d faults", s.opts.MaxFaults)
	}
	for _, f := range faults {
		if err := f.Validate(); err != nil {
			return err
		}
	}
	for _, f := range faults {
		if f.Count == 0 {
			f.Count = 1
		}
		s.faults = append(s.faults, &f)
	}
	return nil
}

// ClearFaults forgets all faults.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// takeFault returns the fault to play on c, nil if there is none.
func (s *Server) takeFault(c *call) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.faults {
		if !f.matches(c) {
			continue
		}
		played := *f
		if f.Count > 0 {
			f.Count--
		}
		if f.Count == 0 {
			s.faults = append(s.faults[:i:i], s.faults[i+1:]...)
		}
		s.counts.faults[f.Kind]++
		return &played
	}
	return nil
}

func (f *Fault) matches(c *call) bool {
	return (f.Dialect == "" || f.Dialect == c.dialect) &&
		(f.Model == "" || f.Model == c.req.Model) &&
		(f.Key == "" || f.Key == KeyHash(c.key)) &&
		(f.Stream == nil || *f.Stream == c.req.Stream) &&
		(f.Kind != FaultRejectStreamOptions || c.req.StreamOptions != nil) &&
		(f.Kind != FaultStreamOverload && f.Kind != FaultTruncate || c.req.Stream)
}

func (f *Fault) firstByte() time.Duration {
	if f.Kind != FaultSlow {
		return 0
	}
	return time.Duration(f.FirstByteMillis) * time.Millisecond
}

// wait is the time that the script says to come back after; 0 if it says none, or nonsense.
func (f *Fault) wait() time.Duration {
	if ms, err := strconv.Atoi(f.RetryAfterMs); err == nil && ms > 0 && int64(ms) <= maxFaultMillis {
		return time.Duration(ms) * time.Millisecond
	}
	if s, err := strconv.Atoi(f.RetryAfter); err == nil && s > 0 && int64(s) <= maxFaultMillis/1_000 {
		return time.Duration(s) * time.Second
	}
	return 0
}

func (f *Fault) betweenChunks() time.Duration { return time.Duration(f.ChunkMillis) * time.Millisecond }

func (f *Fault) setHeaders(h http.Header) {
	for name, values := range f.Headers {
		h[http.CanonicalHeaderKey(name)] = values
	}
	if f.RetryAfter != "" {
		h.Set("Retry-After", f.RetryAfter)
	}
	if f.RetryAfterMs != "" {
		h.Set("Retry-After-Ms", f.RetryAfterMs)
	}
}
