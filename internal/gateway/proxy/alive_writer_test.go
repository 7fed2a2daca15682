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
