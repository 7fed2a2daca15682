// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Server is a simulated provider.
type Server struct {
	opts     Options
	admin    http.Handler
	inFlight atomic.Int64

	mu           sync.Mutex
	accounts     map[accountID]*account
	levelPercent map[Budget]float64 // of accounts that do not exist yet
	faults       []*Fault
	replays      map[string]*replay // by account and idempotency key
	log          ring
	counts       counts
	requests     uint64
	skew         time.Duration
}

// New returns a provider. It panics on options that Validate refuses.
func New(opts Options) *Server {
	if err := opts.Validate(); err != nil {
		panic(err)
	}
	opts = opts.complete()
	s := &Server{
		opts:         opts,
		accounts:     map[accountID]*account{},
		replays:      map[string]*replay{},
		levelPercent: map[Budget]float64{},
		log:          newRing(opts.MaxArrivals),
		counts:       newCounts(),
		skew:         opts.Skew,
	}
	s.admin = newAdmin(s)
	return s
}

// ServeHTTP answers an API call, or a call below /_fake/.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, adminPrefix) {
		s.admin.ServeHTTP(w, r)
		return
	}
	defer s.inFlight.Add(-1)
	if s.inFlight.Add(1) > int64(s.opts.MaxInFlight) {
		http.Error(w, "fakeprovider: too many calls in flight", http.StatusServiceUnavailable)
		return
	}
	s.setDate(w.Header())
	newCall(s, w, r).serve() //nolint:contextcheck // the context is the request's, which the call holds
}

// InFlight is how many calls are being answered.
func (s *Server) InFlight() int { return int(s.inFlight.Load()) }

// SetSkew changes how far the provider's own clock is from the real one.
func (s *Server) SetSkew(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skew = d
}

// clock is the provider's own clock, which may be wrong.
func (s *Server) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opts.Now().Add(s.skew)
}

func (s *Server) setDate(h http.Header) {
	if s.opts.OmitDate {
		h["Date"] = nil // net/http then adds none
		return
	}
	h.Set("Date", s.clock().UTC().Format(http.TimeFormat))
}

// SetLevel sets the level of every bucket of budget b, "" for all, to percent of its burst, and begins
// new figures for it. Accounts that do not exist yet start there too.
func (s *Server) SetLevel(b Budget, percent float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.opts.Now()
	for _, known := range []Budget{Requests, Tokens, InputTokens, OutputTokens} {
		if b == "" || b == known {
			s.levelPercent[known] = percent
		}
	}
	for _, a := range s.accounts {
		for _, l := range a.limits {
			if b == "" || b == l.Budget {
				l.bucket.Reset(now, l.Burst*percent/100)
			}
		}
	}
}

// Reset forgets accounts, arrivals, faults and figures; the levels asked for by SetLevel too.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.accounts = map[accountID]*account{}
	s.replays = map[string]*replay{}
	s.levelPercent = map[Budget]float64{}
	s.faults = nil
	s.log = newRing(s.opts.MaxArrivals)
	s.counts = newCounts()
}

// nextRequest numbers requests, for their ids.
func (s *Server) nextRequest() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	return s.requests
}
