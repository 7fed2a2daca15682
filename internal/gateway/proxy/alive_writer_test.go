// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"
)

// TestB14AResponseThatHasNotBegunWhenAWaitIsOverDoesNotBegin by a ping that was on its way: what a call does then depends on it.
func TestB14AResponseThatHasNotBegunWhenAWaitIsOverDoesNotBegin(t *testing.T) {
	silent := func(int, http.Header, []byte) []byte { return nil }
	for i := range 5000 {
		w := httptest.NewRecorder()
		a := newAlive(w, comment, time.Now(), time.Hour, func(error) {})
		a.wait(time.Now())
		ticked, start := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ticked)
			<-start
			a.tick()
		}()
		close(start)
		if i%2 == 0 {
			runtime.Gosched()
		}
		a.rest()
		begun := a.hasBegun()
		<-ticked
		a.tick()
		if sent := w.Body.Len() > 0; sent != begun || a.hasBegun() != begun {
			t.Fatalf("round %d: begun when the wait is over: %t; then %t, and a ping was sent: %t", i, begun, a.hasBegun(), sent)
		}
		a.end(silent)
	}
}

// TestB14NoTimerOutlivesItsWait: it would hold the call's response for as long, at each of a thousand streams.
func TestB14NoTimerOutlivesItsWait(t *testing.T) {
	silent := func(int, http.Header, []byte) []byte { return nil }
	for name, tc := range map[string]struct {
		begun bool
		over  func(a *alive)
	}{
		"let go without a ping": {false, (*alive).rest},
		"answered":              {true, func(a *alive) { a.WriteHeader(http.StatusOK) }},
		"ended":                 {true, func(a *alive) { a.end(silent) }},
	} {
		a := newAlive(httptest.NewRecorder(), comment, time.Now(), time.Hour, func(error) {})
		a.wait(time.Now())
		if tc.begun {
			a.tick()
		}
		tc.over(a)
		if a.hasBegun() != tc.begun || a.timer.Stop() {
			t.Errorf("%s: a timer runs on; begun: %t", name, a.hasBegun())
		}
	}
}

// limited is a response that notes the limit on its writes.
type limited struct {
	*httptest.ResponseRecorder
	limits []time.Time
}

func (l *limited) SetWriteDeadline(at time.Time) error {
	l.limits = append(l.limits, at)
	return nil
}

// TestB14NoLimitOutlivesItsPing: what is written next may come minutes later, while a limit that has passed fails all writes.
// That of the last event stays: the server's end of the response comes at once, and is under it.
func TestB14NoLimitOutlivesItsPing(t *testing.T) {
	w := &limited{ResponseRecorder: httptest.NewRecorder()}
	a := newAlive(w, comment, time.Now(), time.Hour, func(error) {})
	a.wait(time.Now())
	a.tick()
	if n := len(w.limits); n != 2 || w.limits[0].IsZero() || !w.limits[1].IsZero() {
		t.Errorf("limits of a ping: %v", w.limits)
	}
	a.end(func(int, http.Header, []byte) []byte { return []byte("data: {}\n\n") })
	if n := len(w.limits); n != 3 || w.limits[n-1].IsZero() || w.Body.String() != ": ping\n\ndata: {}\n\n" {
		t.Errorf("limits to the end: %v, sent: %q", w.limits, w.Body)
	}
}
