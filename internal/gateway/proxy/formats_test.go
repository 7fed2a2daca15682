// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/eventstream"
	"github.com/headgate-dev/headgate/internal/plan"
)

// message of an AWS event stream.
func awsEvent(kind, name, payload string) string {
	return string(eventstream.Append(nil, []eventstream.Header{
		{Name: ":message-type", Value: kind}, {Name: ":" + kind + "-type", Value: name}, {Name: ":content-type", Value: "application/json"},
	}, []byte(payload)))
}

// streamFormat is one way to stream, in pieces that matter one by one; without its last piece it is cut.
type streamFormat struct {
	route, dialect, path, body, kind string
	pieces                           []string
}

var streamFormats = map[string]streamFormat{
	"lines": {"vllm", "SelfHosted", "/vllm/api/chat", `{"model":"m","stream":true,"messages":[]}`, "application/x-ndjson", []string{
		`{"model":"m","message":{"role":"assistant","content":"one"},"done":false}` + "\n",
		`{"model":"m","message":{"role":"assistant","content":"two"},"done":false}` + "\n",
		`{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":12,"eval_count":2}` + "\n",
	}},
	"aws events": {"bedrock", "Bedrock", "/bedrock/model/m/converse-stream", `{"messages":[]}`, "application/vnd.amazon.eventstream", []string{
		awsEvent("event", "messageStart", `{"role":"assistant"}`) + awsEvent("event", "contentBlockDelta", `{"delta":{"text":"one"},"contentBlockIndex":0}`),
		awsEvent("event", "contentBlockDelta", `{"delta":{"text":"two"},"contentBlockIndex":0}`),
		awsEvent("event", "messageStop", `{"stopReason":"end_turn"}`) + awsEvent("event", "metadata", `{"usage":{"inputTokens":12,"outputTokens":2,"totalTokens":14}}`),
	}},
	"an array of documents": {"gemini", "Gemini", "/gemini/v1beta/models/m:streamGenerateContent", `{"contents":[]}`, "application/json", []string{
		`[{"candidates":[{"content":{"parts":[{"text":"one"}]}}]}` + "\n",
		`,{"candidates":[{"content":{"parts":[{"text":"two"}]}}]}` + "\n",
		`,{"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":12,"candidatesTokenCount":2}}` + "\n]",
	}},
	"google's events": {"gemini", "Gemini", "/gemini/v1beta/models/m:streamGenerateContent?alt=sse", `{"contents":[]}`, "text/event-stream", []string{
		"data: " + `{"candidates":[{"content":{"parts":[{"text":"one"}]}}]}` + "\r\n\r\n",
		"data: " + `{"candidates":[{"content":{"parts":[{"text":"two"}]}}]}` + "\r\n\r\n",
		"data: " + `{"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":12,"candidatesTokenCount":2}}` + "\r\n\r\n",
	}},
}

// serve sends the first n pieces, half a second apart.
func (f streamFormat) serve(n int) http.Handler {
	return scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", f.kind)
		for i, piece := range f.pieces[:n] {
			if i > 0 {
				time.Sleep(500 * time.Millisecond)
			}
			_, _ = io.WriteString(w, piece)
			_ = http.NewResponseController(w).Flush()
		}
	})
}

func TestB1PiecesOfEveryFormatPassAtOnceAndAreMetered(t *testing.T) {
	for name, f := range streamFormats {
		t.Run(name, func(t *testing.T) {
			simulate(t, f.serve(len(f.pieces)), onePolicy(routeTo(f.route, f.dialect)), func(w *world) {
				resp := w.open(w.t.Context(), f.path, f.body)
				for i, piece := range f.pieces {
					got := make([]byte, len(piece))
					if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != piece {
						t.Fatalf("piece %d is %q: %v", i, got, err)
					}
					if late := time.Since(w.start) - time.Duration(i)*500*time.Millisecond; late > 50*time.Millisecond {
						t.Errorf("piece %d is %s late", i, late)
					}
				}
				if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) > 0 {
					t.Errorf("behind the end: %q %v", rest, err)
				}
				_ = resp.Body.Close()
				w.atRest()
				w.endedAsOf(f.route, outcomeSuccess, 1)
				if tokens := w.figures(f.route).tally.TokensByModel()["m"]; tokens.Input != 12 || tokens.Output != 2 {
					t.Errorf("metered %+v", tokens)
				}
			})
		})
	}
}

// B9: a stream that stops before it said that it was over is no success for the client either.
func TestB9TruncatedStreamsOfEveryFormatAreTold(t *testing.T) {
	for name, f := range streamFormats {
		t.Run(name, func(t *testing.T) {
			simulate(t, f.serve(len(f.pieces)-1), onePolicy(routeTo(f.route, f.dialect)), func(w *world) {
				a := w.post(f.path, f.body)
				if a.err == nil || a.body != strings.Join(f.pieces[:len(f.pieces)-1], "") {
					t.Errorf("the client sees a whole answer: %d %q", a.status, a.body)
				}
				w.atRest()
				w.endedAsOf(f.route, outcomeTruncated, 1)
				if n := w.figures(f.route).tally.TruncatedStreams.Load(); n != 1 {
					t.Errorf("%d truncated streams are counted", n)
				}
			})
		})
	}
}

// A11: an overload that comes inside a success before content is retried as one that comes as a status is, and after
// content it is the client's.
func TestA11ExceptionsInAnEventStream(t *testing.T) {
	f := streamFormats["aws events"]
	whole := strings.Join(f.pieces, "")
	overload := awsEvent("exception", "serviceUnavailableException", `{"message":"Bedrock is unable to process your request."}`)
	for name, tc := range map[string]struct {
		first, want string
		sends       int
	}{
		"before content": {awsEvent("event", "messageStart", `{"role":"assistant"}`) + overload, whole, 2},
		"after content":  {f.pieces[0] + overload, f.pieces[0] + overload, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", f.kind)
				if n == 1 {
					_, _ = io.WriteString(w, tc.first)
					return
				}
				_, _ = io.WriteString(w, whole)
			})
			simulate(t, s, onePolicy(routeTo(f.route, f.dialect)), func(w *world) {
				a := w.post(f.path, f.body)
				if a.err != nil || a.body != tc.want || s.count() != tc.sends {
					t.Errorf("answer %q %v after %d sends", a.body, a.err, s.count())
				}
				w.atRest()
				if n := w.figures(f.route).tally.Overloads.Load(); n != 1 {
					t.Errorf("%d overloads are counted", n)
				}
			})
		})
	}
}

// endedAsOf checks how calls to a route ended.
func (w *world) endedAsOf(route, outcome string, want uint64) {
	w.t.Helper()
	var got uint64
	for _, l := range w.figures(route).tally.Lanes() {
		for ended, n := range l.Counts().Ended {
			if ended.Outcome == outcome {
				got += n
			}
		}
	}
	if got != want {
		w.t.Errorf("%d calls ended as %s, want %d", got, outcome, want)
	}
}

// A deployment in the path is the model of limits and figures, whatever the body names.
func TestModelsInPathsAreThoseOfLimits(t *testing.T) {
	mini := perMinute("mini", plan.Requests, 1)
	mini.Models = []string{"gpt-4o-mini*"}
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
		fail(w, http.StatusOK, `{"object":"chat.completion","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":1}}`)
	})
	simulate(t, s, onePolicy(routeTo("azure-eu", "AzureOpenAI", mini)), func(w *world) {
		ask := func(route, deployment string) answer {
			return w.post("/"+route+"/openai/deployments/"+deployment+"/chat/completions?api-version=2024-10-21",
				`{"model":"ignored","messages":[]}`, "Api-Key", "k", HeaderDeadline, "1s")
		}
		// The built-in route leads to the only provider of the dialect, also without a default URL.
		for _, route := range []string{"azure-eu", "azureopenai"} {
			if a := ask(route, "gpt-4o"); a.status != http.StatusOK {
				t.Errorf("/%s: %d %s", route, a.status, a.body)
			}
		}
		if a := ask("azure-eu", "gpt-4o-mini"); a.status != http.StatusOK {
			t.Errorf("%d %s", a.status, a.body)
		}
		if a := ask("azure-eu", "gpt-4o-mini"); a.status != http.StatusTooManyRequests || a.header.Get(HeaderLimit) != "azure-eu/mini" {
			t.Errorf("%d %v: the limit of its model does not hold", a.status, a.header)
		}
		w.atRest()
		models := w.figures("azure-eu").tally.TokensByModel()
		if models["gpt-4o"].Input != 14 || models["gpt-4o-mini"].Input != 7 || models["ignored"].Input != 0 {
			t.Errorf("metered %+v", models)
		}
	})
}
