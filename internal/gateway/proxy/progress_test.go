// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
)

// TestOutputIsChargedWhileItStreams: a provider that charges output as it is produced does not wait for the
// stream's end, so neither do we: others must not be let in on tokens that are gone.
func TestOutputIsChargedWhileItStreams(t *testing.T) {
	const limit, deltas, pause = 60_000, 200, 10 * time.Millisecond
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
		event(w, "message_start", messageStart)
		for range deltas {
			event(w, "content_block_delta", delta(strings.Repeat("word ", 40)))
			time.Sleep(pause)
		}
		time.Sleep(10 * time.Second)
		event(w, "message_stop", `{"type":"message_stop"}`)
	})
	simulate(t, s, onePolicy(anthropicRoute(perMinute("output-tokens", plan.OutputTokens, limit))), func(w *world) {
		resp := w.open(w.t.Context(), anthropicPath, streamed(10))
		go func() {
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}()
		time.Sleep(deltas*pause + time.Second)
		// 200 deltas of 200 bytes are at least 10,000 tokens; three seconds give back 3,000.
		if level := w.figures("anthropic").level("output-tokens"); level > limit-7_000 {
			t.Errorf("in the midst of the stream the level is %.0f of %d: its output is not charged", level, limit)
		}
		time.Sleep(20 * time.Second)
		w.atRest()
	})
}
