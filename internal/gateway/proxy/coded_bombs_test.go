// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect/registry"
	"github.com/headgate-dev/headgate/internal/plan"
)

// bomb is a document in two codings: behind so many empty ones between them that nobody looks for it.
func bomb(t *testing.T, document string) string {
	t.Helper()
	empty := coded(t, "gzip", "")
	return coded(t, "zstd", strings.Repeat(empty, 480<<10/len(empty))+coded(t, "gzip", document))
}

// TestRequestsThatAreWorkAndNoTextCostTheMost: a body that is given up costs as much as any, and one that is longer than is read in
// a coding what was read of it, and its length.
func TestRequestsThatAreWorkAndNoTextCostTheMost(t *testing.T) {
	const small = `{"model":"m","max_tokens":1,"messages":[]}`
	long := `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("some words", 6<<20/10) + `"}]}`
	short := `{"model":"m","messages":[{"role":"user","content":"` + incompressible(400<<10) + `"}]}`
	for name, tc := range map[string]struct {
		coding, body string
		least, most  int64
		model        string
		unread       bool
	}{
		"a bomb":                 {"gzip, zstd", bomb(t, small), maxUncompressed, maxUncompressed + 1<<20, "", true},
		"a bomb behind text":     {"gzip", coded(t, "gzip", small) + strings.Repeat(coded(t, "gzip", ""), 1<<14), maxUncompressed - 1<<10, maxUncompressed, "m", true},
		"long":                   {"gzip", stored(long), 5 << 20, 7 << 20, "m", true},
		"short":                  {"gzip", coded(t, "gzip", short), 400 << 10, 401 << 10, "m", false},
		"short, in two codings":  {"gzip, deflate", coded(t, "deflate", coded(t, "gzip", short)), 400 << 10, 401 << 10, "m", false},
		"two windows":            {"br, zstd", coded(t, "zstd", coded(t, "br", small)), 0, 1 << 10, "", true},
		"small, in two codings":  {"gzip, br", coded(t, "br", coded(t, "gzip", small)), 0, 1 << 10, "m", false},
		"nothing, in two":        {"gzip, br", coded(t, "br", coded(t, "gzip", "")), 0, 1 << 10, "", false},
		"nothing, and cut short": {"gzip, br", coded(t, "br", coded(t, "gzip", "")[:12]), 0, 1 << 10, "", true},
	} {
		c := readCoded(t.Context(), tc.coding)
		if got := c.readRequest([]byte(tc.body)); got.TextBytes < tc.least || got.TextBytes > tc.most || got.Model != tc.model || c.unread != tc.unread {
			t.Errorf("%s: %d bytes of text in %d, model %q, unread %v", name, got.TextBytes, len(tc.body), got.Model, c.unread)
		}
	}
}

// stored is text in gzip that makes it no smaller.
func stored(text string) string {
	return string(compressedBy(text, func(w io.Writer) io.WriteCloser {
		z, _ := gzip.NewWriterLevel(w, gzip.NoCompression)
		return z
	}))
}

// readCoded is a call to Anthropic whose body is in a content coding.
func readCoded(ctx context.Context, coding string) *call {
	r := &http.Request{Header: http.Header{"Content-Encoding": {coding}, "Content-Type": {"application/json"}}}
	d := registry.ByName("Anthropic")
	return &call{cfg: &config{dialect: d}, op: d.Operation(http.MethodPost, "/v1/messages"), r: r.WithContext(ctx)}
}

// incompressible is text that codings make a quarter smaller, as they do with images in a request.
func incompressible(size int) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	text, seed := make([]byte, size), uint64(1)
	for i := range text {
		seed = seed*6364136223846793005 + 1442695040888963407
		text[i] = digits[seed>>58]
	}
	return string(text)
}

// TestABodyIsReadNoFurtherThanItsClientStays: a call whose client left is cancelled, and neither read nor refused.
func TestABodyIsReadNoFurtherThanItsClientStays(t *testing.T) {
	for _, coding := range []string{"gzip", "zstd", "gzip, zstd"} {
		ctx, leave := context.WithCancel(t.Context())
		leave()
		c := readCoded(ctx, coding)
		if req := c.readRequest([]byte(bomb(t, ""))); req.Model != "" || !c.unread || c.countable() || c.outcome != outcomeCancelled {
			t.Errorf("%s: %+v, unread %v, outcome %q", coding, req, c.unread, c.outcome)
		}
	}
}

// TestAnswersThatAreNotReadPassAndCostTheirEstimate: three codings, two windows, and more work than they are worth.
func TestAnswersThatAreNotReadPassAndCostTheirEstimate(t *testing.T) {
	const document = `{"output":{"message":{"content":[{"text":"hi"}]}},"stopReason":"end_turn","usage":{"inputTokens":120,"outputTokens":30}}`
	for name, tc := range map[string]struct {
		coding, body string
		metered      uint64
	}{
		"two codings":   {"gzip, zstd", coded(t, "zstd", coded(t, "gzip", document)), 120},
		"three codings": {"gzip, deflate, gzip", coded(t, "gzip", coded(t, "deflate", coded(t, "gzip", document))), 0},
		"two windows":   {"zstd, br", coded(t, "br", coded(t, "zstd", document)), 0},
		"a bomb":        {"gzip, zstd", bomb(t, document), 0},
	} {
		t.Run(name, func(t *testing.T) {
			provider, _ := arrivals(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Content-Encoding", tc.coding)
				_, _ = io.WriteString(w, tc.body)
			})
			simulate(t, provider, onePolicy(routeTo("bedrock", "Bedrock")), func(w *world) {
				a := w.post("/bedrock/model/m/converse", `{"messages":[]}`, "Authorization", signature, "Accept-Encoding", "gzip, deflate, br, zstd")
				if a.status != http.StatusOK || a.err != nil || a.body != tc.body || a.header.Get("Content-Encoding") != tc.coding {
					t.Errorf("answer %d, %d bytes of %d, %v %v", a.status, len(a.body), len(tc.body), a.header, a.err)
				}
				w.endedAs(outcomeSuccess, 1)
				figures := w.figures("bedrock").tally
				if got, estimated := figures.TokensByModel()["m"].Input, figures.EstimatedSettlements.Load(); got != tc.metered || (estimated == 1) != (tc.metered == 0) {
					t.Errorf("metered %d, want %d; %d by their estimate", got, tc.metered, estimated)
				}
				w.atRest()
			})
		})
	}
}

// TestStreamsInACodingPassAtOnce, byte by byte as they came; only of documents anything is held, also of one where a stream was
// asked for.
func TestStreamsInACodingPassAtOnce(t *testing.T) {
	const body = `{"model":"m","max_tokens":16,"stream":true,"messages":[]}`
	const events = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":7,\"output_tokens\":1}}}\n\n" +
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	for _, coding := range []string{"br", "deflate", "zstd", "gzip, br"} {
		stream, document := events, overloaded
		for c := range strings.SplitSeq(coding, ", ") {
			stream, document = coded(t, c, stream), coded(t, c, document)
		}
		s := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", coding)
			if n == 2 {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, document)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			inTwo(w, stream[:1], stream[1:], 5*time.Second)
		})
		simulate(t, s, onePolicy(anthropicRoute()), func(w *world) {
			resp := w.open(context.Background(), anthropicPath, body)
			begun := time.Since(w.start)
			got, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if string(got) != stream || err != nil || begun != 0 {
				t.Errorf("%s: %d bytes of %d, %v, begun after %s", coding, len(got), len(stream), err, begun)
			}
			w.atRest()
			if tokens := w.figures("anthropic").tally.TokensByModel()["m"]; tokens.Input != 7 {
				t.Errorf("%s: metered %+v", coding, tokens)
			}
			if a := w.post(anthropicPath, body); a.status != http.StatusOK || a.body != stream || s.count() != 3 {
				t.Errorf("%s: answer %d of %d bytes after %d sends", coding, a.status, len(a.body), s.count())
			}
			w.atRest()
		})
	}
}

// TestAnAttemptWithoutACallerThatCannotBeReadIsNoFurtherCall: it was counted with its caller, before there was a limit by model.
func TestAnAttemptWithoutACallerThatCannotBeReadIsNoFurtherCall(t *testing.T) {
	r := deferring()
	r.Limits[0].Models = []string{"opus*"}
	simulate(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was sent") }), onePolicy(r), func(w *world) {
		w.withKeys(map[string]string{"key": "one.example"})
		made := w.gateway.Make(context.Background(), &Later{
			Route: "anthropic", Path: "/v1/messages", Body: []byte(gzipped(message(10))), Header: http.Header{"Content-Encoding": {"compress"}},
		}, MakeOptions{Patience: time.Minute, MaxAnswer: 100, Sending: func() bool { return true }})
		if made.Reason != reasonUnread || made.Sent {
			t.Errorf("made %+v", made)
		}
		if counts := w.figures("anthropic").lanes[0].Counts(); len(counts.Refused) != 0 || counts.Offered != 0 || len(counts.Ended) != 0 {
			t.Errorf("its route's lane counts %+v", counts)
		}
		w.atRest()
	})
}

// TestBombsAreOfNoModel: where a limit is by model they are declined, and where it is not they are larger than it.
func TestBombsAreOfNoModel(t *testing.T) {
	opus := perMinute("opus", plan.Requests, 1)
	opus.Models = []string{"opus*"}
	for _, tc := range []struct {
		limit  plan.Limit
		reason string
		status int
	}{{opus, reasonUnread, http.StatusUnsupportedMediaType}, {perMinute("input", plan.InputTokens, 100_000), "TooLarge", http.StatusTooManyRequests}} {
		s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { answerOK(w) })
		simulate(t, s, onePolicy(anthropicRoute(tc.limit)), func(w *world) {
			a := w.post(anthropicPath, bomb(t, `{"model":"opus-5","messages":[]}`), "X-Api-Key", "k", "Content-Encoding", "gzip, zstd")
			if a.status != tc.status || a.header.Get(HeaderReason) != tc.reason || s.count() != 0 || !strings.Contains(a.body, `"error":{"type":"`) {
				t.Errorf("%s: answer %d %v %s after %d sends", tc.limit.Name, a.status, a.header, a.body, s.count())
			}
			w.endedAs(outcomeRefused, 1)
			w.atRest()
		})
	}
}
