// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/headgate-dev/headgate/internal/plan"
)

// coded compresses a body.
func coded(t *testing.T, coding, body string) string {
	t.Helper()
	var b bytes.Buffer
	var z io.WriteCloser = gzip.NewWriter(&b)
	switch coding {
	case "br":
		z = brotli.NewWriterLevel(&b, 1)
	case "deflate":
		z = zlib.NewWriter(&b)
	case "zstd":
		z, _ = zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
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
		for coding, body := range map[string]string{
			"gzip": coded(t, "gzip", small), "br": coded(t, "br", small), "x-gzip": coded(t, "gzip", small), "zstd": coded(t, "zstd", small),
			"deflate": coded(t, "deflate", small), "gzip, zstd": coded(t, "zstd", coded(t, "gzip", small)),
		} {
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
			for _, coding := range []string{"gzip", "br", "zstd"} {
				got = nil
				if a := ask(coding, coded(t, coding, large)); a.status < 400 || len(got) != 0 {
					t.Errorf("%d MiB in %s: answer %d, sent %d times", megabytes, coding, a.status, len(got))
				}
			}
		}
		// What is no such coding, or is of one that is not read, costs its length and passes, if its model can be read.
		for _, coding := range []string{"gzip", "br", "zstd", "gzip, br", "compress"} {
			if a := ask(coding, small); a.status != http.StatusOK {
				t.Errorf("%s that is none: answer %d %s", coding, a.status, a.body)
			}
		}
		w.atRest()
	})
}

// TestARequestWhoseModelCannotBeReadGoesRoundNoLimitByModel: it is declined where there is such a limit, in words that say why,
// and passes where there is none.
func TestARequestWhoseModelCannotBeReadGoesRoundNoLimitByModel(t *testing.T) {
	const end = `"model":"opus-5"}`
	small := `{"max_tokens":1,"messages":[],` + end
	zipped := coded(t, "gzip", small)
	behind := func(mebibytes int) string {
		return `{"max_tokens":1,"x":"` + strings.Repeat(" ", mebibytes<<20) + `",` + end
	}
	for name, tc := range map[string]struct {
		coding, body string
		status       int
	}{
		"a coding that is not read":   {"compress", zipped, 415},
		"one of two that is not read": {"compress, gzip", zipped, 415},
		"more codings than are read":  {"gzip, deflate, gzip", coded(t, "gzip", coded(t, "deflate", zipped)), 415},
		"two windows":                 {"br, zstd", coded(t, "zstd", coded(t, "br", small)), 415},
		"broken":                      {"gzip", zipped[:20], 415},
		"a window that is too wide":   {"zstd", string([]byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0x78, 0, 0, 0}), 415},
		"behind what is read":         {"zstd", coded(t, "zstd", behind(5)), 415},
		"behind what is held":         {"", behind(33), 400},
		"as it is told to":            {"", `{"x":"` + strings.Repeat(" ", 63<<10) + `","model":"opus-5","y":"` + strings.Repeat(" ", 33<<20) + `"}`, 200},
	} {
		t.Run(name, func(t *testing.T) {
			for _, limit := range []plan.Limit{{Name: "opus", Budget: plan.Requests, Amount: 1, WindowSeconds: 60, Burst: 1, Models: []string{"opus*"}}, perMinute("all", plan.Requests, 100)} {
				s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { answerOK(w) })
				simulate(t, s, onePolicy(anthropicRoute(limit)), func(w *world) {
					a := w.post(anthropicPath, tc.body, "X-Api-Key", "k", "Content-Encoding", tc.coding)
					if limit.Name == "all" || tc.status == http.StatusOK {
						if a.status != http.StatusOK || s.count() != 1 {
							t.Errorf("limit %s: answer %d %s after %d sends", limit.Name, a.status, a.body, s.count())
						}
						return
					}
					if a.status != tc.status || s.count() != 0 || a.header.Get(HeaderReason) != reasonUnread || a.header.Get("X-Should-Retry") != "false" || !strings.Contains(a.body, `"type":"headgate_model_unread"`) {
						t.Errorf("answer %d %v %s after %d sends", a.status, a.header, a.body, s.count())
					}
					if told := strings.Contains(a.body, "within the first 64 KiB"); told != (tc.coding == "") {
						t.Errorf("it is told %s", a.body)
					}
					if accepted := a.header.Get("Accept-Encoding"); (accepted == acceptedCodings) != (tc.coding != "") {
						t.Errorf("it is told to send %q", accepted)
					}
					w.endedAs(outcomeRefused, 1)
					w.atRest()
				})
			}
		})
	}
}
