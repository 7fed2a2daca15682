// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// zipped sends pieces of a stream in one gzip, each at once; the last may be missing its end.
func zipped(w http.ResponseWriter, whole bool, pieces ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Content-Encoding", "gzip")
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	send := func() {
		_, _ = w.Write(b.Bytes())
		b.Reset()
		_ = http.NewResponseController(w).Flush()
	}
	for _, p := range pieces {
		_, _ = io.WriteString(z, p)
		_ = z.Flush()
		send()
		time.Sleep(500 * time.Millisecond)
	}
	if whole {
		_ = z.Close()
		send()
	}
}

// TestB6AndB9AndA11StreamsThatNobodyAskedToCompressAreReadLikeOthers: piece by piece, the injected chunk goes, what breaks
// off is told, and an overload is retried.
func TestB6AndB9AndA11StreamsThatNobodyAskedToCompressAreReadLikeOthers(t *testing.T) {
	const path, body = "/openai/v1/chat/completions", `{"model":"m","stream":true,"messages":[]}`
	const chunk = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":null}]}\n\n"
	const end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
	const overload = "data: {\"error\":{\"code\":\"server_is_overloaded\"}}\n\n"
	for name, tc := range map[string]struct {
		first     []string
		cut       bool
		sends     int
		usage     int64
		succeeded uint64
	}{
		"whole":              {[]string{chunk, end, "data: " + chunkUsage + "\n\n", "data: [DONE]\n\n"}, false, 1, 200, 1},
		"without gzip's end": {[]string{chunk, end, "data: " + chunkUsage + "\n\n", "data: [DONE]\n\n"}, false, 1, 200, 1},
		"broken off":         {[]string{chunk, chunk}, true, 1, -1, 0},
		"overloaded":         {[]string{overload}, false, 2, 200, 1},
		"refused for usage":  {[]string{"data: {\"error\":{\"message\":\"stream_options is not supported\"}}\n\n"}, false, 2, 200, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
				if n > 1 {
					zipped(w, true, chunk, end, "data: "+chunkUsage+"\n\n", "data: [DONE]\n\n")
					return
				}
				zipped(w, !tc.cut && name != "without gzip's end", tc.first...)
			})
			simulate(t, s, onePolicy(openaiRoute()), func(w *world) {
				resp := w.open(w.t.Context(), path, body)
				begun := time.Since(w.start)
				got, err := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if (err != nil) != tc.cut || resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Encoding") != "" || s.count() != tc.sends {
					t.Errorf("answer %d %v %q %v after %d sends", resp.StatusCode, resp.Header, got, err, s.count())
				}
				if tc.sends == 1 && begun > 50*time.Millisecond || !strings.HasPrefix(string(got), chunk) {
					t.Errorf("it began after %s with %q", begun, got)
				}
				w.atRest()
				w.endedAs(outcomeSuccess, tc.succeeded)
				if rejected := name == "refused for usage"; strings.Contains(string(got), `"choices":[]`) != rejected {
					t.Errorf("the client sees %q", got)
				}
				if tokens := w.figures("openai").tally.TokensByModel()["m"]; tc.usage > 0 && tokens.Output != uint64(tc.usage) {
					t.Errorf("metered %+v", tokens)
				}
			})
		})
	}
}

// TestCompressedStreamsThatHoldNothingBreakOff: no byte of a body that says it is gzip is no stream.
func TestCompressedStreamsThatHoldNothingBreakOff(t *testing.T) {
	for name, body := range map[string]string{"nothing": "", "no gzip": "data: [DONE]\n\n"} {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				w.Header().Set("Content-Encoding", "gzip")
				_, _ = io.WriteString(w, body)
			})
			simulate(t, s, onePolicy(openaiRoute()), func(w *world) {
				a := w.post("/openai/v1/chat/completions", `{"model":"m","stream":true,"messages":[]}`)
				if a.status != http.StatusBadGateway || a.header.Get("Content-Encoding") != "" {
					t.Errorf("answer %d %v %q", a.status, a.header, a.body)
				}
				w.endedAs(outcomeTruncated, 1)
				w.atRest()
			})
		})
	}
}
