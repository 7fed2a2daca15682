// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/bubble"
)

// ending is one call of a server whose drain has a bound of 10 s.
type ending struct {
	// takes is after what time the call is answered.
	takes time.Duration
	// over is when it is none any more for those who count calls; 0 is never.
	over time.Duration
	// away: it waits for others.
	away bool
	// whole: the client gets all of the answer; and the drain takes so long.
	whole bool
	took  time.Duration
}

const endsAfter = 10 * time.Second

// TestTheEndOfADrainWaitsForItsOwnAnswers, which a stall may delay beyond the bound, and which are still to be written when their
// calls are over: for some seconds, and not for calls that wait for others.
func TestTheEndOfADrainWaitsForItsOwnAnswers(t *testing.T) {
	const most = answersStep * answersSteps
	for name, tc := range map[string]ending{
		"an answer that is late":              {endsAfter + time.Second, 0, false, true, endsAfter + time.Second},
		"an answer that is nearly too late":   {endsAfter + most - time.Second, 0, false, true, endsAfter + most - time.Second},
		"an answer that does not come":        {time.Hour, 0, false, false, endsAfter + most},
		"an answer of another's":              {endsAfter + time.Second, 0, true, false, endsAfter},
		"an answer that is still to be given": {5 * time.Second, 4 * time.Second, false, true, 5 * time.Second},
		"an answer that was given":            {time.Second, time.Second, false, true, quiet},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) { tc.run(t) })
		})
	}
}

func (e *ending) run(t *testing.T) {
	t.Helper()
	var calls atomic.Int64
	began := time.Now()
	s := newServer(Options{
		Data: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(e.takes):
				w.WriteHeader(http.StatusTeapot)
			case <-r.Context().Done():
			}
		}),
		Admin: http.NotFoundHandler(), DrainBound: endsAfter, Log: said,
		Busy: func() (int64, time.Time) { return calls.Load(), began },
		Away: func() int64 {
			if e.away {
				return calls.Load()
			}
			return 0
		},
	})
	near, far := net.Pipe()
	defer func() { _ = near.Close() }()
	l := &single{conn: far, done: make(chan struct{})}
	go func() { _ = s.data.Serve(l) }()
	calls.Store(1)
	if e.over > 0 {
		time.AfterFunc(e.over, func() { calls.Store(0) })
	}
	answered := make(chan bool, 1)
	go func() {
		_, _ = io.WriteString(near, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		resp, err := http.ReadResponse(bufio.NewReader(near), nil)
		answered <- err == nil && resp.StatusCode == http.StatusTeapot && resp.Body.Close() == nil
	}()
	s.drain()
	took := time.Since(began)
	s.close()
	if whole := <-answered; whole != e.whole {
		t.Errorf("the client was answered: %t, want %t", whole, e.whole)
	}
	if took < e.took || took > e.took+2*drainStep {
		t.Errorf("the drain took %s, want %s", took, e.took)
	}
}
