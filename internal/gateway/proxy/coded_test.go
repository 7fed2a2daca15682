// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"

	"github.com/headgate-dev/headgate/internal/plan"
)

// coded compresses a body.
func coded(t *testing.T, coding, body string) string {
	t.Helper()
	var b bytes.Buffer
	var z io.WriteCloser = gzip.NewWriter(&b)
	if coding == "br" {
		z = brotli.NewWriterLevel(&b, 1)
	}
	if _, err := io.WriteString(z, body); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestRequestsInACodingCostWhatTheyHold: a call counts by its model's limits and by all of its text, however small it was made
// on the way; a bomb costs what it stands for and holds little; the provider gets the body as it came.
func TestRequestsInACodingCostWhatTheyHold(t *testing.T) {
	opus := perMinute("opus", plan.Requests, 1)
	opus.Models = []string{"opus*"}
	var got []string
	s := scripted(func(_ int, w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, r.Header.Get("Content-Encoding")+" "+string(body))
		fail(w, http.StatusOK, `{"type":"message","usage":{"input_tokens":7,"output_tokens":1}}`)
	})
	simulate(t, s, onePolicy(anthropicRoute(opus, perMinute("input", plan.InputTokens, 100_000))), func(w *world) {
		ask := func(coding, body string) answer {
			a := w.post(anthropicPath, body, "X-Api-Key", "k", "Content-Encoding", coding, HeaderDeadline, "1s")
			time.Sleep(2 * time.Minute)
			return a
		}
		small := `{"model":"opus-5","max_tokens":1,"messages":[]}`
		for coding, body := range map[string]string{"gzip": coded(t, "gzip", small), "br": coded(t, "br", small), "x-gzip": coded(t, "gzip", small)} {
			got = nil
			if a := ask(coding, body); a.status != http.StatusOK || len(got) != 1 || got[0] != coding+" "+body {
				t.Errorf("%s: answer %d %s, the provider got %q", coding, a.status, a.body, got)
			}
			first := w.post(anthropicPath, body, "X-Api-Key", "k", "Content-Encoding", coding, HeaderDeadline, "1s")
			if second := ask(coding, body); first.status != http.StatusOK || second.status != http.StatusTooManyRequests || second.header.Get(HeaderLimit) != "anthropic/opus" {
				t.Errorf("%s: answers %d and %d %v: the limit of its model does not hold", coding, first.status, second.status, second.header)
			}
		}
		for _, megabytes := range []int{1, 6} {
			large := fmt.Sprintf(`{"model":"sonnet","max_tokens":1,"messages":[{"role":"user","content":"%s"}]}`, strings.Repeat("a few words ", megabytes<<20/12))
			for _, coding := range []string{"gzip", "br"} {
				got = nil
				if a := ask(coding, coded(t, coding, large)); a.status < 400 || len(got) != 0 {
					t.Errorf("%d MiB in %s: answer %d, sent %d times", megabytes, coding, a.status, len(got))
				}
			}
		}
		// What is no such coding, or is of one that is not read, costs its length and passes.
		for _, coding := range []string{"gzip", "br", "zstd", "gzip, br"} {
			if a := ask(coding, small); a.status != http.StatusOK {
				t.Errorf("%s that is none: answer %d %s", coding, a.status, a.body)
			}
		}
		w.atRest()
	})
}
