// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestA11CompressedErrorsThatAreDocumentsAreRetriedToo: in each coding that is read, however it comes; bytes that pass are those
// that came, and what is no error, or is large, passes as soon as that is known.
func TestA11CompressedErrorsThatAreDocumentsAreRetriedToo(t *testing.T) {
	large := strings.Replace(overloaded, `{`, `{"x":"`+strings.Repeat("many words ", 1<<13)+`",`, 1)
	padded := strings.TrimSuffix(overloaded, "}") + strings.Repeat(" ", 1<<17) + "}"
	wrong := `{"type":"error","error":{"type":"invalid_request_error","message":"x"}}`
	for name, tc := range map[string]struct {
		coding, answer string
		pause          time.Duration // between its pieces
		sends          int
		took           time.Duration
	}{
		"gzip":                      {"gzip", overloaded, 0, 2, 0},
		"br":                        {"br", overloaded, 0, 2, 0},
		"deflate":                   {"deflate", overloaded, 0, 2, 0},
		"zstd":                      {"zstd", overloaded, 0, 2, 0},
		"one after the other":       {"gzip, zstd", overloaded, 0, 2, 0},
		"a throttle":                {"gzip", throttled, 0, 2, 0},
		"in pieces":                 {"gzip", overloaded, 20 * time.Millisecond, 2, 0},
		"always":                    {"br", overloaded, 0, 4, 0},
		"in pieces that come late":  {"gzip", overloaded, time.Second, 1, 2 * time.Second},
		"a wrong request":           {"gzip", wrong, 0, 1, 0},
		"an answer":                 {"gzip", okMessage, 0, 1, 0},
		"an answer in pieces":       {"gzip", okMessage, 20 * time.Millisecond, 1, 0},
		"an error in much else":     {"gzip", large, 0, 1, 0},
		"an error that is a bomb":   {"gzip", padded, 0, 1, 0},
		"a coding that is not read": {"compress", overloaded, 0, 1, 0},
		"a coding that is a lie":    {"gzip", "plain " + overloaded, 0, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			answer := tc.answer
			for c := range strings.SplitSeq(tc.coding, ", ") {
				if !strings.HasPrefix(answer, "plain ") {
					answer = coded(t, c, answer)
				}
			}
			s := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if n > 1 && name != "always" {
					_, _ = io.WriteString(w, okMessage)
					return
				}
				w.Header().Set("Content-Encoding", tc.coding)
				inPieces(w, answer, tc.pause)
			})
			simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
				a := w.post(anthropicPath, message(10), "Accept-Encoding", "gzip, br, zstd")
				if want := map[bool]string{true: okMessage, false: answer}[tc.sends == 2]; a.status != http.StatusOK || a.body != want || a.err != nil || s.count() != tc.sends {
					t.Errorf("answer %d %q %v after %d sends", a.status, a.body, a.err, s.count())
				}
				if got := a.header.Get("Content-Encoding"); tc.sends != 2 && got != tc.coding {
					t.Errorf("its coding is %q", got)
				}
				if tc.sends == 1 && (a.took < tc.took || a.took > tc.took+peekTime) {
					t.Errorf("it came after %s", a.took)
				}
				w.atRest()
			})
		})
	}
}

// inPieces sends an answer in three pieces, or whole.
func inPieces(w http.ResponseWriter, answer string, pause time.Duration) {
	if pause == 0 {
		_, _ = io.WriteString(w, answer)
		return
	}
	for i := range 3 {
		_, _ = io.WriteString(w, answer[i*len(answer)/3:(i+1)*len(answer)/3])
		_ = http.NewResponseController(w).Flush()
		if i < 2 {
			time.Sleep(pause)
		}
	}
}

// TestA11AnErrorThatIsADocumentMayComeInPieces: what opens like one is held until it is whole, for as long as a stream's beginning;
// what does not passes at once.
func TestA11AnErrorThatIsADocumentMayComeInPieces(t *testing.T) {
	for cut := range len(overloaded) {
		s := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
			if n > 1 {
				answerOK(w)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, overloaded[:cut])
			_ = http.NewResponseController(w).Flush()
			time.Sleep(50 * time.Millisecond)
			_, _ = io.WriteString(w, overloaded[cut:])
		})
		simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
			if a := w.ask(10); a.status != http.StatusOK || a.body != okMessage || s.count() != 2 {
				t.Errorf("cut at %d: answer %d %q after %d sends", cut, a.status, a.body, s.count())
			}
			w.atRest()
		})
	}
	for name, tc := range map[string]struct {
		first, rest string
		pause       time.Duration
		begun       time.Duration
	}{
		"late":      {overloaded[:30], overloaded[30:], 5 * time.Second, peekTime},
		"no error":  {okMessage[:30], okMessage[30:], 5 * time.Second, 0},
		"one brace": {okMessage[:1], okMessage[1:], 5 * time.Second, peekTime},
		"another":   {`{"error":{"message":"no"`, `}}`, 50 * time.Millisecond, 50 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				inTwo(w, tc.first, tc.rest, tc.pause)
			})
			simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
				resp := w.open(context.Background(), anthropicPath, message(10))
				begun := time.Since(w.start)
				got, err := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if string(got) != tc.first+tc.rest || err != nil || s.count() != 1 || begun < tc.begun || begun > tc.begun+50*time.Millisecond {
					t.Errorf("%q %v after %d sends, begun after %s", got, err, s.count(), begun)
				}
				w.atRest()
			})
		})
	}
}

func inTwo(w http.ResponseWriter, first, rest string, pause time.Duration) {
	_, _ = io.WriteString(w, first)
	_ = http.NewResponseController(w).Flush()
	time.Sleep(pause)
	_, _ = io.WriteString(w, rest)
}
