// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"io"
	"net/http"
	"testing"
	"time"
)

// TestA11AnErrorThatIsADocumentInPlaceOfEventsIsRetriedToo: with the media type of a stream, as some proxies send it; and one that
// no time cures passes whole.
func TestA11AnErrorThatIsADocumentInPlaceOfEventsIsRetriedToo(t *testing.T) {
	const wrong = `{"type":"error","error":{"type":"invalid_request_error","message":"x"}}`
	for name, tc := range map[string]struct {
		answer string
		pause  time.Duration
		sends  int
	}{
		"an overload":           {overloaded, 0, 2},
		"a throttle, on a line": {throttled + "\n", 0, 2},
		"in pieces":             {overloaded, 20 * time.Millisecond, 2},
		"in an array":           {"[" + overloaded + "]", 0, 2},
		"always":                {overloaded, 0, 4},
		"a wrong request":       {wrong, 0, 1},
		"an answer":             {okMessage, 0, 1},
		"an answer in pieces":   {okMessage, 20 * time.Millisecond, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				if n > 1 && name != "always" {
					event(w, "message_stop", `{"type":"message_stop"}`)
					return
				}
				inPieces(w, tc.answer, tc.pause)
			})
			simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
				resp := w.open(w.t.Context(), anthropicPath, streamed(10))
				got, err := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if repeated := string(got) != tc.answer; repeated != (tc.sends == 2) || resp.StatusCode != http.StatusOK || err != nil || s.count() != tc.sends {
					t.Errorf("answer %d %q %v after %d sends", resp.StatusCode, got, err, s.count())
				}
				w.atRest()
			})
		})
	}
}
