// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/testing/canary"
)

// mostSilent is how long a client may hear nothing while its call is queued.
const mostSilent = 15 * time.Second

// listened is what the client of a stream got, and when.
type listened struct {
	status int
	header http.Header
	// headers came after headed, each piece at its time.
	headed time.Duration
	pieces []piece
	text   string
	took   time.Duration
	err    error
}

type piece struct {
	text string
	at   time.Duration
}

// listen makes a call and notes what it hears.
func (w *world) listen(ctx context.Context, path, body string, headers ...string) listened {
	began := time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://gateway"+path, strings.NewReader(body))
	if err != nil {
		return listened{err: err}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", canary.Key("1"))
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return listened{err: err, took: time.Since(began)}
	}
	defer func() { _ = resp.Body.Close() }()
	l := listened{status: resp.StatusCode, header: resp.Header, headed: time.Since(began)}
	for buf := make([]byte, 32<<10); l.err == nil; {
		var n int
		n, l.err = resp.Body.Read(buf)
		if n > 0 {
			l.pieces = append(l.pieces, piece{string(buf[:n]), time.Since(began)})
			l.text += string(buf[:n])
		}
	}
	if errors.Is(l.err, io.EOF) {
		l.err = nil
	}
	l.took = time.Since(began)
	return l
}

// silence is the longest time in which the client heard nothing, up to the first piece that is no ping.
func (l *listened) silence(ping string) (longest time.Duration) {
	last := time.Duration(0)
	for _, at := range append([]piece{{ping, l.headed}}, l.pieces...) {
		longest, last = max(longest, at.at-last), at.at
		if at.text != ping {
			break
		}
	}
	return longest
}

// requestOf is a call as it is written.
func requestOf(path, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\nX-Api-Key: %s\r\nContent-Length: %d\r\n\r\n%s",
		path, canary.Key("1"), len(body), body)
}

// slotOf is a route on which one call at a time goes, and waiting streams are kept alive.
func slotOf(name, dialect string, wait time.Duration) plan.Route {
	r := routeTo(name, dialect, plan.Limit{Name: "in-flight", Budget: plan.InFlight, Amount: 1, Burst: 1})
	r.Deadline.DefaultMillis, r.Lanes[0].MaxWaitMillis = 600_000, wait.Milliseconds()
	r.Lanes[0].KeepAlive = true
	return r
}

// behind is a provider whose first call is answered after a time, so that the others wait for as long.
func behind(held time.Duration, others func(w http.ResponseWriter, r *http.Request)) *script {
	return scripted(func(n int, w http.ResponseWriter, r *http.Request) {
		if n == 1 {
			time.Sleep(held)
			answerOK(w)
			return
		}
		others(w, r)
	})
}

// occupied runs f while a call holds the route's only slot.
func (w *world) occupied(path, body string, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.post(path, strings.Replace(body, `"stream":true`, `"stream":false`, 1), "X-Api-Key", canary.Key("1"))
	}()
	synctest.Wait()
	f()
	<-done
}

// aliveForms are the streams that are kept alive, with what an event-stream reader ignores in each.
var aliveForms = map[string]struct{ route, dialect, path, body, ping, answer string }{
	"Anthropic": {
		"anthropic", "Anthropic", anthropicPath, `{"model":"m","max_tokens":16,"stream":true,"messages":[]}`, ": ping\n\n",
		"event: message_start\ndata: " + messageStart + "\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	},
	"OpenAI's chat": {
		"openai", "OpenAI", "/openai/v1/chat/completions", `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[]}`, ": ping\n\n",
		"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
	},
	"OpenAI's responses": {
		"openai", "OpenAI", "/openai/v1/responses", `{"model":"m","stream":true,"input":"x"}`, ": ping\n\n",
		"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"hi\"}\n\n" +
			"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n",
	},
	"Gemini": {
		"gemini", "Gemini", "/gemini/v1beta/models/m:streamGenerateContent?alt=sse", `{"contents":[]}`, "\n\n",
		strings.Join(streamFormats["google's events"].pieces, ""),
	},
	"Cohere": {
		"cohere", "Cohere", "/cohere/v2/chat", `{"model":"m","stream":true,"messages":[]}`, ": ping\n\n",
		"event: content-delta\ndata: {\"type\":\"content-delta\",\"delta\":{\"message\":{\"content\":{\"text\":\"hi\"}}}}\n\n" +
			"event: message-end\ndata: {\"type\":\"message-end\",\"delta\":{\"finish_reason\":\"COMPLETE\",\"usage\":{\"tokens\":{\"input_tokens\":1,\"output_tokens\":1}}}}\n\n",
	},
}

// TestB14QueuedStreamsHearPingsUntilTheirAnswer: 90 s in a queue and 25 s until the provider says anything, in every form
// of server-sent events; then the stream goes on as the provider sends it.
func TestB14QueuedStreamsHearPingsUntilTheirAnswer(t *testing.T) {
	for name, form := range aliveForms {
		t.Run(name, func(t *testing.T) {
			s := behind(90*time.Second, func(w http.ResponseWriter, _ *http.Request) {
				time.Sleep(25 * time.Second)
				w.Header().Set("Content-Type", "text/event-stream")
				w.Header().Set("Request-Id", "req_1")
				_, _ = io.WriteString(w, form.answer)
			})
			simulate(t, s, onePolicy(slotOf(form.route, form.dialect, 2*time.Minute)), func(w *world) {
				w.occupied(form.path, form.body, func() {
					l := w.listen(w.t.Context(), form.path, form.body)
					pings := strings.Repeat(form.ping, 11) // after 10 s, to 110 s
					if l.status != http.StatusOK || l.err != nil || l.headed != plan.PingEvery || l.text != pings+form.answer {
						t.Errorf("answer %d after %s %q: %v", l.status, l.headed, l.text, l.err)
					}
					if silence := l.silence(form.ping); silence > mostSilent {
						t.Errorf("silence of %s: %+v", silence, l.pieces)
					}
					if l.took < 115*time.Second || l.took > 116*time.Second {
						t.Errorf("it took %s", l.took)
					}
					h := l.header
					if h.Get("Content-Type") != "text/event-stream; charset=utf-8" || h.Get("Cache-Control") != "no-cache" ||
						h.Get("X-Accel-Buffering") != "no" || h.Get("Request-Id") != "" || h.Get("Content-Length") != "" {
						t.Errorf("%v", h)
					}
				})
				w.atRest()
				w.endedAsOf(form.route, outcomeSuccess, 2)
			})
		})
	}
}

// TestB14OtherCallsWaitInSilence: calls that cannot be kept alive, in a lane that does so, and streams in one that does not.
func TestB14OtherCallsWaitInSilence(t *testing.T) {
	stream := aliveForms["Anthropic"]
	for name, tc := range map[string]struct {
		route, dialect, path, body string
		headers                    []string
		change                     func(*plan.Route)
	}{
		"no stream":          {"anthropic", "Anthropic", anthropicPath, message(1), nil, nil},
		"not asked for":      {stream.route, stream.dialect, stream.path, stream.body, nil, func(r *plan.Route) { r.Lanes[0].KeepAlive = false }},
		"an array":           {"gemini", "Gemini", "/gemini/v1beta/models/m:streamGenerateContent", `{}`, nil, nil},
		"an array, as JSON":  {"gemini", "Gemini", "/gemini/v1beta/models/m:streamGenerateContent?alt=json", `{}`, nil, nil},
		"lines":              {"vllm", "SelfHosted", "/vllm/api/chat", `{"model":"m","stream":true,"messages":[]}`, nil, nil},
		"Cohere's lines":     {"cohere", "Cohere", "/cohere/v1/chat", `{"model":"m","stream":true,"message":"x"}`, nil, nil},
		"AWS' events":        {"bedrock", "Bedrock", "/bedrock/model/m/converse-stream", `{}`, nil, nil},
		"a signed request":   {"anthropic", "Anthropic", anthropicPath, stream.body, []string{"Authorization", "AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=host, Signature=0"}, nil},
		"what is no call":    {"anthropic", "Anthropic", "/anthropic/v1/files", stream.body, nil, nil},
		"a short wait":       {stream.route, stream.dialect, stream.path, stream.body, nil, nil},
		"one that it states": {stream.route, stream.dialect, stream.path, stream.body, []string{HeaderDeadline, "9s"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			held, want := 40*time.Second, http.StatusTeapot
			switch name {
			case "a short wait":
				held = 9900 * time.Millisecond
			case "one that it states":
				want = http.StatusTooManyRequests
			}
			s := behind(held, func(w http.ResponseWriter, _ *http.Request) {
				fail(w, http.StatusTeapot, `{"type":"error","error":{"type":"teapot","message":"short and stout"}}`, "Request-Id", "req_1")
			})
			r := slotOf(tc.route, tc.dialect, 2*time.Minute)
			if tc.change != nil {
				tc.change(&r)
			}
			simulate(t, s, onePolicy(r), func(w *world) {
				w.occupied(tc.path, tc.body, func() {
					l := w.listen(w.t.Context(), tc.path, tc.body, tc.headers...)
					if l.status != want || l.err != nil || strings.Contains(l.text, "ping") || l.took != l.headed {
						t.Errorf("answer %d after %s, to its end after %s: %q %v", l.status, l.headed, l.took, l.text, l.err)
					}
					if want == http.StatusTeapot && (l.header.Get("Request-Id") != "req_1" || l.took < held) {
						t.Errorf("%v after %s", l.header, l.took)
					}
					if want == http.StatusTooManyRequests && (l.header.Get("Retry-After") == "" || l.header.Get(HeaderReason) == "") {
						t.Errorf("%v", l.header)
					}
				})
				w.atRest()
			})
		})
	}
}

// TestB14OldClientsHearNoPings: HTTP/1.0 has no body that begins before its length or its end is known.
func TestB14OldClientsHearNoPings(t *testing.T) {
	form := aliveForms["Anthropic"]
	s := behind(40*time.Second, func(w http.ResponseWriter, _ *http.Request) { fail(w, http.StatusTeapot, "{}") })
	simulate(t, s, onePolicy(slotOf(form.route, form.dialect, 2*time.Minute)), func(w *world) {
		w.occupied(form.path, form.body, func() {
			conn := w.dialled()
			defer func() { _ = conn.Close() }()
			_, _ = io.WriteString(conn, strings.Replace(requestOf(form.path, form.body), "HTTP/1.1", "HTTP/1.0", 1))
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != http.StatusTeapot || string(body) != "{}" {
				t.Errorf("answer %d %q", resp.StatusCode, body)
			}
		})
		w.atRest()
	})
}

// TestB14ClientsThatLeaveDuringPingsLeaveTheQueueAtOnce, and so do those that take nothing, not even a ping.
func TestB14ClientsThatLeaveDuringPingsLeaveTheQueueAtOnce(t *testing.T) {
	form := aliveForms["Anthropic"]
	s := behind(90*time.Second, func(http.ResponseWriter, *http.Request) { t.Error("it was sent") })
	simulate(t, s, onePolicy(slotOf(form.route, form.dialect, 2*time.Minute)), func(w *world) {
		queued := func() int { return w.figures(form.route).gate.Figures(time.Now()).Lanes[0].Queued }
		w.occupied(form.path, form.body, func() {
			ctx, leave := context.WithTimeout(w.t.Context(), 25*time.Second)
			defer leave()
			if l := w.listen(ctx, form.path, form.body); len(l.pieces) != 2 || l.err == nil || l.took > 26*time.Second {
				t.Errorf("%+v", l)
			}
			synctest.Wait()
			if n := queued(); n != 0 {
				t.Errorf("%d are queued when the client has left", n)
			}
			conn := w.dialled()
			defer func() { _ = conn.Close() }()
			_, _ = io.WriteString(conn, requestOf(form.path, form.body))
			time.Sleep(plan.PingEvery)
			synctest.Wait()
			if n := queued(); n != 1 {
				t.Errorf("%d are queued", n)
			}
			time.Sleep(pingTime + time.Millisecond)
			synctest.Wait()
			if n := queued(); n != 0 {
				t.Errorf("%d are queued when the client takes nothing", n)
			}
		})
		w.atRest()
		w.endedAsOf(form.route, outcomeCancelled, 2)
	})
}
