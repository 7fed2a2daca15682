// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"testing"
	"time"
)

// TestWhatAnAttemptNeedsIsLearnedFromAnswersThatServe: refusals come at once, and say nothing of how long an answer takes.
// Learned from them, calls would begin too late for their deadlines just when it counts.
func TestWhatAnAttemptNeedsIsLearnedFromAnswersThatServe(t *testing.T) {
	const needs = 4 * time.Second
	for name, quick := range map[string]func(w http.ResponseWriter){
		"throttled":   func(w http.ResponseWriter) { throttle(w, "Retry-After", "1") },
		"overloaded":  func(w http.ResponseWriter) { fail(w, 529, overloaded) },
		"broken":      func(w http.ResponseWriter) { fail(w, http.StatusInternalServerError, `{}`) },
		"not allowed": func(w http.ResponseWriter) { fail(w, http.StatusForbidden, `{}`) },
	} {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
				if n > 1 {
					quick(w)
					return
				}
				time.Sleep(needs)
				answerOK(w)
			})
			simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
				for range 30 {
					w.ask(10, HeaderDeadline, "20s")
				}
				if s.count() < 3 {
					t.Fatalf("%d sends", s.count())
				}
				if got := w.figures("anthropic").health.attemptTime(time.Hour); got != needs {
					t.Errorf("an attempt is expected to need %v, the one that was served took %v", got, needs)
				}
				w.atRest()
			})
		})
	}
}
