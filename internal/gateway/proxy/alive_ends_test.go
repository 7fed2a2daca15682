// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
)

func gzipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.String()
}

func deflated(text string) string {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.String()
}

const providerFull = `{"type":"error","error":{"type":"rate_limit_error","message":"the provider is full"}}`

// asStream answers with what is called an event stream.
func asStream(text string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, text)
	}
}

// failedBehindPings is a call that waits for 30 s and then fails: what its client gets behind the pings.
type failedBehindPings struct {
	provider      func(w http.ResponseWriter, r *http.Request)
	meanwhile     func(w *world)
	change        func(*plan.Route)
	kind, message string
	outcome       string
	sends         int
}

var failuresBehindPings = map[string]failedBehindPings{
	"a wait in vain": {
		change: func(r *plan.Route) { r.Lanes[0].MaxWaitMillis = 30_000 },
		kind:   "rate_limit_error", message: " in lane default; fits in ", outcome: outcomeRefused,
	},
	"a queue that is taken away": {
		meanwhile: func(w *world) {
			r := slotOf("anthropic", "Anthropic", 2*time.Minute)
			r.Limits[0].Amount, r.Limits[0].Burst = 0, 0
			w.gateway.Apply(onePolicy(r), time.Now())
		},
		kind: "rate_limit_error", message: "lets nothing pass", outcome: outcomeRefused,
	},
	"a drain": {
		meanwhile: func(w *world) { w.gateway.EndBy(time.Now().Add(5 * time.Second)) },
		kind:      "api_error", message: "this gateway ends before the call could be sent", outcome: outcomeRefused,
	},
	"a bad request": {
		provider: func(w http.ResponseWriter, _ *http.Request) {
			fail(w, http.StatusBadRequest, "{\n \"type\":\"error\",\n \"error\":{\"type\":\"invalid_request_error\",\"message\":\"no such field\"}}")
		},
		kind: "invalid_request_error", message: "no such field", outcome: outcomeFailed, sends: 1,
	},
	"a refusal for longer": {
		provider: func(w http.ResponseWriter, _ *http.Request) {
			fail(w, http.StatusTooManyRequests, providerFull, "Retry-After", "500")
		},
		kind: "rate_limit_error", message: "the provider is full", outcome: outcomeFailed, sends: 1,
	},
	"overloads": {
		provider: func(w http.ResponseWriter, _ *http.Request) { fail(w, 529, overloaded) },
		kind:     "overloaded_error", message: "Overloaded", outcome: outcomeFailed, sends: 4,
	},
	"an overload inside": {
		provider: func(w http.ResponseWriter, _ *http.Request) { event(w, "error", overloaded) },
		kind:     "overloaded_error", message: "Overloaded", outcome: outcomeFailed, sends: 4,
	},
	"a stream in a coding": {
		provider: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "deflate") // its first byte is a letter, as a field's could be
			asStream(deflated("event: message_start\ndata: "+messageStart+"\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"))(w, nil)
		},
		kind: "api_error", message: "answered, and not with a stream", outcome: outcomeFailed, sends: 1,
	},
	"a page": {
		provider: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusBadGateway)
			_, _ = io.WriteString(w, "<html>\n\ndata: x\n\n</html>")
		},
		kind: "api_error", message: "Anthropic answered with status 502.", outcome: outcomeFailed, sends: 1,
	},
	"a compressed error": {
		provider: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			fail(w, http.StatusNotFound, gzipped(`{"type":"error","error":{"type":"not_found_error","message":"no such model"}}`))
		},
		kind: "not_found_error", message: "no such model", outcome: outcomeFailed, sends: 1,
	},
	"an error that breaks off": {
		provider: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fail(w, http.StatusForbidden, `{"type":"error","error":{"type":"permiss`)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
		kind: "permission_error", message: "Anthropic answered with status 403.", outcome: outcomeFailed, sends: 1,
	},
	"a long error": {
		provider: func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write(bytes.Repeat([]byte("x"), 4*maxFailureBody))
		},
		kind: "api_error", message: "Anthropic answered with status 500.", outcome: outcomeFailed, sends: 1,
	},
	"a redirect": {
		provider: func(w http.ResponseWriter, _ *http.Request) {
			fail(w, http.StatusTemporaryRedirect, "", "Location", "http://elsewhere/")
		},
		kind: "api_error", message: "Anthropic answered with status 307.", outcome: outcomeFailed, sends: 1,
	},
	"a document": {
		provider: func(w http.ResponseWriter, _ *http.Request) { answerOK(w) },
		kind:     "api_error", message: "answered, and not with a stream", outcome: outcomeFailed, sends: 1,
	},
	"an error that is called a stream": {
		provider: asStream(`{"type":"error","error":{"type":"invalid_request_error","message":"no such field"}}`),
		kind:     "invalid_request_error", message: "no such field", outcome: outcomeFailed, sends: 1,
	},
	"one of another shape": {
		provider: asStream("\ufeff \n{\"error\":{\"message\":\"no such model\",\"type\":\"invalid_request_error\",\"code\":\"model_not_found\"}}"),
		kind:     "api_error", message: "no such model", outcome: outcomeFailed, sends: 1,
	},
	"a document that is called a stream": {
		provider: asStream(`{"type":"message","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`),
		kind:     "api_error", message: "answered, and not with a stream", outcome: outcomeFailed, sends: 1,
	},
	"a page that is called a stream": {
		provider: asStream("<html>\n\ndata: x\n\n</html>" + strings.Repeat("\n", peekBytes)),
		kind:     "api_error", message: "answered, and not with a stream", outcome: outcomeTruncated, sends: 1,
	},
	"a document that breaks off": {
		provider: func(w http.ResponseWriter, r *http.Request) {
			asStream(`{"type":"message","content":[{"type":"text","text":"`+strings.Repeat("x", 2*peekBytes))(w, r)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
		kind: "api_error", message: "answered, and not with a stream", outcome: outcomeTruncated, sends: 1,
	},
	"an answer without a body": {
		provider: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		kind:     "api_error", message: "answered, and not with a stream", outcome: outcomeFailed, sends: 1,
	},
	"a long error that breaks off": {
		provider: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10000000")
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write(bytes.Repeat([]byte("x"), 4*maxFailureBody))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
		kind: "api_error", message: "Anthropic answered with status 500.", outcome: outcomeFailed, sends: 1,
	},
	"nothing": {
		provider: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		kind:     "api_error", message: "Anthropic gave no answer", outcome: outcomeUpstream, sends: 1,
	},
	"a stream without an event": {
		provider: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusOK)
		},
		kind: "api_error", message: "its answer broke off", outcome: outcomeTruncated, sends: 1,
	},
}

// TestB14FailuresBehindPingsAreErrorsOfTheProvidersShape: whatever comes of a call that has waited, its client has status
// 200 by then, and the end of its stream is one error event that says what it would have been told.
func TestB14FailuresBehindPingsAreErrorsOfTheProvidersShape(t *testing.T) {
	form := aliveForms["Anthropic"]
	for name, tc := range failuresBehindPings {
		t.Run(name, func(t *testing.T) {
			s := behind(30*time.Second+time.Millisecond, tc.provider)
			r := slotOf(form.route, form.dialect, 2*time.Minute)
			if tc.change != nil {
				tc.change(&r)
			}
			simulate(t, s, onePolicy(r), func(w *world) {
				w.occupied(form.path, form.body, func() {
					if tc.meanwhile != nil {
						timer := time.AfterFunc(25*time.Second, func() { tc.meanwhile(w) })
						defer timer.Stop()
					}
					l := w.listen(w.t.Context(), form.path, form.body)
					pings := strings.Count(l.text, form.ping)
					said, found := strings.CutPrefix(l.text, strings.Repeat(form.ping, pings)+"event: error\ndata: ")
					if l.status != http.StatusOK || l.err != nil || pings < 2 || !found || strings.Count(said, "\n") != 2 {
						t.Fatalf("answer %d %q: %v", l.status, l.text, l.err)
					}
					var event struct {
						Type  string
						Error struct{ Type, Message string }
					}
					if err := json.Unmarshal([]byte(said), &event); err != nil || event.Type != "error" {
						t.Fatalf("%q: %v", said, err)
					}
					if event.Error.Type != tc.kind || !strings.Contains(event.Error.Message, tc.message) {
						t.Errorf("%+v, want %s %q", event, tc.kind, tc.message)
					}
					if silence := l.silence(form.ping); silence > mostSilent {
						t.Errorf("silence of %s: %+v", silence, l.pieces)
					}
				})
				w.atRest()
				w.endedAsOf(form.route, tc.outcome, 1)
				if n := s.count() - 1; n != tc.sends {
					t.Errorf("%d sends, want %d", n, tc.sends)
				}
			})
		})
	}
}

// TestB14StreamsThatBreakOffBehindPingsAreCut: half an answer must not look like a whole one, pings or not.
func TestB14StreamsThatBreakOffBehindPingsAreCut(t *testing.T) {
	form := aliveForms["Anthropic"]
	s := behind(30*time.Second, func(w http.ResponseWriter, _ *http.Request) {
		event(w, "message_start", messageStart)
		event(w, "content_block_delta", delta("half"))
		panic(http.ErrAbortHandler)
	})
	simulate(t, s, onePolicy(slotOf(form.route, form.dialect, 2*time.Minute)), func(w *world) {
		w.occupied(form.path, form.body, func() {
			if l := w.listen(w.t.Context(), form.path, form.body); l.err == nil || !strings.Contains(l.text, "half") || strings.Contains(l.text, "error") {
				t.Errorf("%q %v", l.text, l.err)
			}
		})
		w.atRest()
		w.endedAsOf(form.route, outcomeTruncated, 1)
	})
}

// TestB14RetriesAreWaitedForWithPings: the wait that a provider asks for is one in the queue like any other. What is
// silence before counts while nothing is sent.
func TestB14RetriesAreWaitedForWithPings(t *testing.T) {
	form := aliveForms["Anthropic"]
	s := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
		switch n {
		case 1:
			fail(w, http.StatusTooManyRequests, throttled, "Retry-After", "25")
		case 2:
			fail(w, http.StatusTooManyRequests, throttled, "Retry-After", "9")
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, form.answer)
		}
	})
	r := slotOf(form.route, form.dialect, 2*time.Minute)
	r.Throttle.JitterPercent = 0
	simulate(t, s, onePolicy(r), func(w *world) {
		l := w.listen(w.t.Context(), form.path, form.body)
		if l.status != http.StatusOK || l.err != nil || l.headed != plan.PingEvery || l.text != strings.Repeat(form.ping, 3)+form.answer {
			t.Errorf("answer %d after %s %q: %v", l.status, l.headed, l.text, l.err)
		}
		w.atRest()
		w.endedAsOf(form.route, outcomeSuccess, 1)
	})
}

// TestB14ARouteThatGoesWhileItsCallsWaitAnswersThem.
func TestB14ARouteThatGoesWhileItsCallsWaitAnswersThem(t *testing.T) {
	form := aliveForms["Anthropic"]
	s := behind(40*time.Second, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, form.answer)
	})
	simulate(t, s, onePolicy(slotOf(form.route, form.dialect, 2*time.Minute)), func(w *world) {
		gates := w.figures(form.route).gate
		w.occupied(form.path, form.body, func() {
			time.AfterFunc(25*time.Second, func() { w.gateway.Apply(&plan.Plan{Version: plan.Version, Namespace: "team-support"}, time.Now()) })
			l := w.listen(w.t.Context(), form.path, form.body)
			if l.err != nil || l.text != strings.Repeat(form.ping, 3)+form.answer && l.text != strings.Repeat(form.ping, 4)+form.answer {
				t.Errorf("%q %v", l.text, l.err)
			}
		})
		synctest.Wait()
		if f := gates.Figures(time.Now()); f.Reserved != 0 || f.Lanes[0].Queued != 0 {
			t.Errorf("%+v", f)
		}
		gates.Close()
	})
}

// TestB14CallsThatFailOverGoOnInTheSameStream, and where the other route has nothing either, with the first's refusal.
func TestB14CallsThatFailOverGoOnInTheSameStream(t *testing.T) {
	form := aliveForms["Anthropic"]
	for name, second := range map[string]func(w http.ResponseWriter, r *http.Request){
		"answered": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, form.answer)
		},
		"unreachable": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			first := behind(29*time.Second, func(w http.ResponseWriter, _ *http.Request) {
				fail(w, http.StatusTooManyRequests, providerFull, "Retry-After", "500")
			})
			p := &providers{first: first, second: scripted(func(_ int, w http.ResponseWriter, r *http.Request) { second(w, r) })}
			simulate(t, p, pair(func(a, b *plan.Route) {
				on, to := a.BaseURL, b.BaseURL
				throttle := a.Throttle
				*a, *b = slotOf("anthropic", "Anthropic", 2*time.Minute), slotOf("second", "Anthropic", 2*time.Minute)
				a.BaseURL, b.BaseURL, a.Throttle = on, to, throttle
			}), func(w *world) {
				w.occupied(form.path, form.body, func() {
					l := w.listen(w.t.Context(), form.path, form.body)
					want := strings.Repeat(form.ping, 2) + form.answer
					if name == "unreachable" {
						want = strings.Repeat(form.ping, 2) + "event: error\ndata: " + providerFull + "\n\n"
					}
					if l.status != http.StatusOK || l.err != nil || l.text != want {
						t.Errorf("answer %d %q: %v", l.status, l.text, l.err)
					}
				})
				w.atRest()
			})
		})
	}
}

// TestB14WhoHasHeardAPingIsNotPutOff: a ticket cannot be told in a stream.
func TestB14WhoHasHeardAPingIsNotPutOff(t *testing.T) {
	form := aliveForms["Anthropic"]
	for name, heard := range map[string]bool{"with pings": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			kept := &shelf{}
			r := slotOf(form.route, form.dialect, 30*time.Second)
			r.Lanes[0].KeepAlive = heard
			r.BaseURL, r.CredentialKey, r.Deadline.OnExceeded = "https://one.example", "key", plan.Defer
			r.Deferred = &plan.Deferred{MaxAgeSeconds: 3600, MaxAttempts: 3, MaxCalls: 10, MaxBytes: 1 << 20}
			simulate(t, behind(40*time.Second, nil), onePolicy(r), func(w *world) {
				w.withKeys(map[string]string{"key": "one.example"})
				w.occupied(form.path, form.body, func() {
					l := w.listen(w.t.Context(), form.path, form.body)
					if deferred := l.status == http.StatusAccepted; l.err != nil || deferred == heard || deferred != (len(kept.kept) == 1) {
						t.Errorf("answer %d %q %v, %d are kept", l.status, l.text, l.err, len(kept.kept))
					}
					if heard && !strings.Contains(l.text, "rate_limit_error") {
						t.Errorf("%q", l.text)
					}
				})
				w.atRest()
			}, func(o *Options) { o.Deferrals = kept })
		})
	}
}

// TestB14ConnectionsServeOnBehindPings: no limit that was set for a ping or an error outlives it, however the stream ended.
func TestB14ConnectionsServeOnBehindPings(t *testing.T) {
	form := aliveForms["Anthropic"]
	for name, answer := range map[string]func(w http.ResponseWriter){
		"a stream": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, form.answer)
		},
		"an error": func(w http.ResponseWriter) { fail(w, http.StatusBadRequest, providerFull) },
	} {
		t.Run(name, func(t *testing.T) {
			s := behind(25*time.Second, func(w http.ResponseWriter, _ *http.Request) { answer(w) })
			simulate(t, s, onePolicy(slotOf(form.route, form.dialect, 2*time.Minute)), func(w *world) {
				w.occupied(form.path, form.body, func() {
					conn := w.dialled()
					defer func() { _ = conn.Close() }()
					read := bufio.NewReader(conn)
					for i := range 3 {
						_, _ = io.WriteString(conn, requestOf(form.path, form.body))
						resp, err := http.ReadResponse(read, nil)
						if err != nil {
							t.Fatalf("call %d: %v", i, err)
						}
						body, err := io.ReadAll(resp.Body)
						if pinged := bytes.Contains(body, []byte(form.ping)); err != nil || pinged != (i == 0) {
							t.Errorf("call %d: %q %v", i, body, err)
						}
						time.Sleep(2 * stallTime)
					}
				})
				w.atRest()
			})
		})
	}
}
