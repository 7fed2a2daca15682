// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
)

// A provider that hangs, and a caller that waits for ever, hold a slot and a reservation for half an hour and no longer.
func TestC6AProviderThatHangsGivesEverythingBack(t *testing.T) {
	hang := func(r *http.Request) { <-r.Context().Done() }
	for name, tc := range map[string]struct {
		do      func(w http.ResponseWriter, r *http.Request)
		status  int
		broken  bool
		outcome string
	}{
		"before its answer": {func(_ http.ResponseWriter, r *http.Request) { hang(r) }, http.StatusBadGateway, false, outcomeUpstream},
		"within a stream": {func(w http.ResponseWriter, r *http.Request) {
			event(w, "message_start", messageStart)
			event(w, "content_block_delta", delta("hi"))
			hang(r)
		}, http.StatusOK, true, outcomeTruncated},
	} {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(_ int, w http.ResponseWriter, r *http.Request) { tc.do(w, r) })
			one := plan.Limit{Name: "in-flight", Budget: plan.InFlight, Amount: 1, Burst: 1}
			simulate(t, s, onePolicy(anthropicRoute(perMinute("requests", plan.Requests, 60), one)), func(w *world) {
				resp := w.open(w.t.Context(), anthropicPath, streamed(10))
				_, err := io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				if resp.StatusCode != tc.status || (err != nil) != tc.broken {
					t.Errorf("status %d, %v", resp.StatusCode, err)
				}
				if took := time.Since(w.start); took < mostSilence || took > mostSilence+time.Minute {
					t.Errorf("it ended after %s", took)
				}
				if s.count() != 1 {
					t.Errorf("%d sends", s.count())
				}
				w.endedAs(tc.outcome, 1)
				w.atRest()
			})
		})
	}
}

// Silence that is shorter ends nothing, however often it comes.
func TestAProviderThatSpeaksNowAndThenIsHeardOut(t *testing.T) {
	const gaps = 4
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
		time.Sleep(mostSilence - time.Second)
		event(w, "message_start", messageStart)
		for range gaps {
			time.Sleep(mostSilence - time.Second)
			event(w, "content_block_delta", delta("hi"))
		}
		event(w, "message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}}`)
		event(w, "message_stop", `{"type":"message_stop"}`)
	})
	simulate(t, s, onePolicy(anthropicRoute(perMinute("requests", plan.Requests, 60))), func(w *world) {
		resp := w.open(w.t.Context(), anthropicPath, streamed(10))
		_, err := io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("status %d, %v", resp.StatusCode, err)
		}
		w.endedAs(outcomeSuccess, 1)
		w.atRest()
	})
}
