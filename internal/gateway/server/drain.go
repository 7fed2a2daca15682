// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// quiet is how long there must have been no call before a drain ends.
	quiet = 2 * time.Second
	// drainStep is how often a drain looks.
	drainStep = 50 * time.Millisecond
	// answersStep is how often the end of a drain looks for answers that are under way, and answersSteps how many times at most,
	// which is 3 s. A time instead would be over for a process that was stalled for as long, and those behind it are told nothing.
	// With the bound and the last reports, which take a second, it is within the 30 s that a pod has by default.
	answersStep  = 5 * time.Millisecond
	answersSteps = 600
)

// drain goes on serving until the app has made no call for a moment. The sidecar is signalled when the
// app's containers have ended, or when the pod has run out of time; a lone gateway when it is stopped.
func (s *Server) drain() {
	start := time.Now()
	s.opts.Log.Info("draining", slog.Duration("bound", s.opts.DrainBound))
	if s.opts.Draining != nil {
		s.opts.Draining(start.Add(s.opts.DrainBound))
	}
	for time.Since(start) < s.opts.DrainBound {
		calls, last := s.opts.Busy()
		if calls == 0 && time.Since(last) >= quiet && time.Since(start) >= drainStep {
			break
		}
		time.Sleep(drainStep)
	}
	s.lastAnswers()
	calls, _ := s.opts.Busy()
	s.opts.Log.Info("drained", slog.Int64("cut", calls), slog.Duration("took", time.Since(start)))
}

// lastAnswers waits for the answers that the gateway gives by itself, and for those that it has had whole: a call that is over
// for its handler is not yet for its client.
func (s *Server) lastAnswers() {
	for range answersSteps {
		if !s.owes() {
			return
		}
		time.Sleep(answersStep)
	}
}

// owes says that some connection has a request whose answer waits for nobody but this process.
func (s *Server) owes() bool {
	before := s.away()
	answering := s.answering.count()
	return answering > min(before, s.away()) // calls go and come back meanwhile
}

func (s *Server) away() int64 {
	if s.opts.Away == nil {
		return 0
	}
	return s.opts.Away()
}

// answering are the connections with a request that has come and whose answer has not left.
type answering struct {
	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

// note is for http.Server.ConnState. A connection is idle again when all of an answer was written to it.
func (a *answering) note(c net.Conn, state http.ConnState) {
	if state == http.StateNew {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if state != http.StateActive {
		delete(a.conns, c)
		return
	}
	if a.conns == nil {
		a.conns = map[net.Conn]struct{}{}
	}
	a.conns[c] = struct{}{}
}

func (a *answering) count() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return int64(len(a.conns))
}
