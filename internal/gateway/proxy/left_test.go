// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/testing/canary"
)

// TestA5ACallWhoseClientLeftIsCountedAsThat: also where the provider's refusal comes in just then, whose few bytes can
// still be written.
func TestA5ACallWhoseClientLeftIsCountedAsThat(t *testing.T) {
	for name, status := range map[string]int{"throttled": 429, "overloaded": 529, "refused": 400, "failed": 500} {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
				time.Sleep(2 * time.Second)
				fail(w, status, `{}`)
			})
			simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
				// The provider does not notice that the call is cancelled, and its answer is on its way.
				w.gateway.SetTransport(roundTrips(func(r *http.Request) (*http.Response, error) {
					return w.upstream.RoundTrip(r.WithContext(context.WithoutCancel(r.Context())))
				}))
				ctx, leave := context.WithCancel(context.Background())
				time.AfterFunc(time.Second, leave)
				w.do(ctx, http.MethodPost, anthropicPath, message(10), "x-api-key", canary.Key("1"))
				time.Sleep(5 * time.Second)
				w.endedAs(outcomeCancelled, 1)
				w.atRest()
			})
		})
	}
}

// TestAClientThatLeavesAfterTheEndPaysWhatWasUsed: SDKs close a stream at its last event, before the provider has closed
// the connection. Its usage has been told by then, and is what is charged, not the estimate.
func TestAClientThatLeavesAfterTheEndPaysWhatWasUsed(t *testing.T) {
	const limit, input, output = 60_000, 1_234, 77
	usage := fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":%d}}`, output)
	for name, whole := range map[string]bool{"after the last event": true, "before it": false} {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(_ int, w http.ResponseWriter, r *http.Request) {
				event(w, "message_start", fmt.Sprintf(`{"type":"message_start","message":{"usage":{"input_tokens":%d,"output_tokens":1}}}`, input))
				event(w, "content_block_delta", delta("hello"))
				if whole {
					event(w, "message_delta", usage)
					event(w, "message_stop", `{"type":"message_stop"}`)
				}
				<-r.Context().Done()
			})
			simulate(t, s, onePolicy(anthropicRoute(perMinute("tokens", plan.Tokens, limit))), func(w *world) {
				ctx, leave := context.WithCancel(context.Background())
				resp := w.open(ctx, anthropicPath, streamed(3_000))
				time.AfterFunc(time.Second, leave)
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				time.Sleep(time.Second)
				if spent := w.figures("anthropic").spent("tokens"); (spent == input+output) != whole {
					t.Errorf("charged %.0f, used %d, told whole: %t", spent, input+output, whole)
				}
				w.atRest()
			})
		})
	}
}

// Of two choices the first may be over alone: who leaves then has not heard of all that is charged, though usage has been told on
// the way. What was reserved stays charged.
func TestAClientThatLeavesAfterTheFirstChoicePaysForBoth(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, r *http.Request) {
		event(w, "", `{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":3}}`)
		<-r.Context().Done()
	})
	simulate(t, s, onePolicy(openaiRoute(perMinute("tokens", plan.Tokens, 60_000))), func(w *world) {
		ctx, leave := context.WithCancel(context.Background())
		resp := w.open(ctx, "/openai/v1/chat/completions", `{"model":"m","n":2,"stream":true,"max_tokens":400,"messages":[{"role":"user","content":"hello"}]}`)
		time.AfterFunc(time.Second, leave)
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		time.Sleep(time.Second)
		if spent := w.figures("openai").spent("tokens"); spent <= 103 {
			t.Errorf("charged %.0f", spent)
		}
		w.atRest()
	})
}
