// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/spool"
	"github.com/headgate-dev/headgate/internal/plan"
)

// TestCallsWhoseClientLeftAreNeverToldSuccess: a client that closes only its sending side still reads.
func TestCallsWhoseClientLeftAreNeverToldSuccess(t *testing.T) {
	tight := perMinute("input-tokens", plan.InputTokens, 600)
	for name, tc := range map[string]struct {
		limit  plan.Limit
		tokens int
	}{
		"in the queue":          {tight, 400},
		"before the first byte": {canonical[0], 10},
	} {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(n int, w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("X-First") != "" {
					answerOK(w)
					return
				}
				<-r.Context().Done()
			})
			simulate(t, s, onePolicy(anthropicRoute(tc.limit)), func(w *world) {
				w.ask(tc.tokens, "X-First", "1")
				ctx, cancel := context.WithTimeout(context.Background(), time.Second)
				defer cancel()
				rec := httptest.NewRecorder()
				w.gateway.ServeHTTP(rec, httptest.NewRequestWithContext(ctx, http.MethodPost, anthropicPath, strings.NewReader(message(tc.tokens))))
				if rec.Code != statusClientLeft {
					t.Errorf("status %d", rec.Code)
				}
				w.endedAs(outcomeCancelled, 1)
				w.atRest()
			})
		})
	}
}

// dialled is a connection to the gateway as a client sees it.
func (w *world) dialled() net.Conn {
	w.t.Helper()
	conn, err := w.client.Transport.(*http.Transport).DialContext(w.t.Context(), "tcp", "gateway:80")
	if err != nil {
		w.t.Fatal(err)
	}
	return conn
}

func TestB10ClientThatStopsSendingIsCut(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { answerOK(w) })
	simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
		conn := w.dialled()
		defer func() { _ = conn.Close() }()
		_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 30000000\r\n\r\n{", anthropicPath)
		answer, _ := io.ReadAll(conn)
		if took := time.Since(w.start); took < stallTime || took > stallTime+time.Second || !strings.HasPrefix(string(answer), "HTTP/1.1 408") {
			t.Errorf("after %s: %s", took, answer)
		}
		if s.count() != 0 {
			t.Error("half a body was sent")
		}
		w.atRest()
	})
}

func TestB10SlowClientThatKeepsSendingIsServed(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { answerOK(w) })
	simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
		conn := w.dialled()
		defer func() { _ = conn.Close() }()
		body := message(10)
		_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n", anthropicPath, len(body))
		for i := range len(body) {
			time.Sleep(stallTime / 3)
			_, _ = io.WriteString(conn, body[i:i+1])
		}
		if answer, _ := io.ReadAll(conn); !strings.HasPrefix(string(answer), "HTTP/1.1 200") {
			t.Errorf("answer %s", answer)
		}
		w.atRest()
	})
}

// TestB10LongThoughtAboutALargeBodyIsNotCut: the limit on the client ends with its body.
func TestB10LongThoughtAboutALargeBodyIsNotCut(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
		time.Sleep(10 * time.Minute)
		answerOK(w)
	})
	simulate(t, s, onePolicy(anthropicRoute()), func(w *world) {
		for _, size := range []int{10, spool.MaxReplayable/3 + 1000} {
			if a := w.ask(size); a.status != http.StatusOK || a.took < 10*time.Minute {
				t.Errorf("%d bytes: answer %d after %s, %v", 3*size, a.status, a.took, a.err)
			}
		}
		w.atRest()
	})
}

// TestB10ClientThatStallsOnTheLastBytesIsCut: what the server itself still holds is under the limit too.
func TestB10ClientThatStallsOnTheLastBytesIsCut(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(plainBuffer+100))
		_, _ = io.WriteString(w, strings.Repeat("x", plainBuffer))
		_ = http.NewResponseController(w).Flush()
		time.Sleep(time.Second)
		_, _ = io.WriteString(w, strings.Repeat("x", 100))
	})
	simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
		resp := w.open(w.t.Context(), anthropicPath, message(10))
		if _, err := io.ReadFull(resp.Body, make([]byte, plainBuffer)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * stallTime)
		synctest.Wait()
		rest, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err == nil {
			t.Errorf("a client that took nothing for %s still got %d bytes", 2*stallTime, len(rest))
		}
		w.atRest()
	})
}

// TestB10ClientThatTakesAllButTheEndIsCut: the few bytes by which the server ends a response are under the limit as well,
// however long after the last ones they come.
func TestB10ClientThatTakesAllButTheEndIsCut(t *testing.T) {
	const end = "0\r\n\r\n"
	form := aliveForms["Anthropic"]
	for name, tc := range map[string]struct {
		pause  time.Duration // before the provider ends
		fails  bool          // behind pings
		stalls bool
	}{
		"a stream":                    {0, false, true},
		"one that ends late":          {3 * stallTime, false, true},
		"an error behind pings":       {0, true, true},
		"a reader":                    {0, false, false},
		"a reader of a late end":      {3 * stallTime, false, false},
		"a reader of errors and ends": {0, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := behind(25*time.Second, func(w http.ResponseWriter, r *http.Request) {
				if tc.fails {
					fail(w, http.StatusBadRequest, providerFull)
					return
				}
				asStream(form.answer)(w, r)
				_ = http.NewResponseController(w).Flush()
				time.Sleep(tc.pause)
			})
			last := form.answer[len(form.answer)-10:] + "\r\n"
			if tc.fails {
				last = providerFull[len(providerFull)-10:] + "\n\n\r\n"
			}
			simulate(t, s, onePolicy(slotOf(form.route, form.dialect, 2*time.Minute)), func(w *world) {
				w.occupied(form.path, form.body, func() {
					conn := w.dialled()
					defer func() { _ = conn.Close() }()
					_, _ = io.WriteString(conn, strings.Replace(requestOf(form.path, form.body), "\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1))
					var text []byte
					for b := make([]byte, 1); !strings.HasSuffix(string(text), last); text = append(text, b[0]) {
						if _, err := conn.Read(b); err != nil {
							t.Fatalf("%q: %v", text, err)
						}
					}
					if tc.stalls {
						time.Sleep(tc.pause + stallTime + time.Second)
					}
					if rest, _ := io.ReadAll(conn); (string(rest) == end) == tc.stalls {
						t.Errorf("behind %q came %q", text, rest)
					}
				})
				w.atRest()
			})
		})
	}
}

// TestB12RefusedUploadsGetTheirAnswer: most clients read only when they have sent everything.
func TestB12RefusedUploadsGetTheirAnswer(t *testing.T) {
	g := New(Options{Dialect: byName, Transport: http.DefaultTransport, Memory: spool.NewBudget(1 << 20), Namespace: "n"})
	front := httptest.NewServer(g)
	defer front.Close()
	conn, err := net.Dial("tcp", front.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	const size = 24 << 20
	_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n", anthropicPath, size)
	piece := make([]byte, 1<<20)
	for range size / len(piece) {
		if _, err := conn.Write(piece); err != nil {
			t.Fatalf("the upload broke off: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 503") || !strings.Contains(string(answer), "Retry-After: 1\r\n") {
		t.Errorf("%v, answer %s", err, answer)
	}
}

func TestGatewayDoesNotCallItself(t *testing.T) {
	g := New(Options{Dialect: byName, Transport: http.DefaultTransport, Namespace: "n"})
	front := httptest.NewServer(g)
	defer front.Close()
	_, port, err := net.SplitHostPort(front.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "localhost", "127.0.0.2", "[::1]", "[::ffff:127.0.0.1]", "LOCALHOST"} {
		route := anthropicRoute()
		route.BaseURL = "http://" + host + ":" + port + "/anthropic"
		g.Apply(onePolicy(route), time.Now())
		resp, err := http.Post(front.URL+anthropicPath, "application/json", strings.NewReader(message(10)))
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(body), "own address") {
			t.Errorf("%s: answer %d %s", host, resp.StatusCode, body)
		}
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// TestA6AnswersOfOurOwnKeepSDKsFromRetrying: whatever the reason, and with whole seconds where a wait is named.
func TestA6AnswersOfOurOwnKeepSDKsFromRetrying(t *testing.T) {
	s := scripted(func(int, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	tight := anthropicRoute(perMinute("input-tokens", plan.InputTokens, 600))
	keyed := openaiRoute()
	keyed.CredentialKey = "none"
	simulate(t, s, onePolicy(tight, keyed), func(w *world) {
		for name, a := range map[string]answer{
			"too large": w.ask(1000), "deadline": w.ask(590, HeaderDeadline, "0s"), "unreachable": w.ask(1),
			"no key":        w.post("/openai/v1/chat/completions", "{}"),
			"unknown route": w.post("/nobody", "{}"), "dots": w.post("/openai/v1/..%2f", "{}"),
		} {
			if a.status < 400 || a.header.Get("X-Should-Retry") != "false" {
				t.Errorf("%s: answer %d %v", name, a.status, a.header)
			}
			if after := a.header.Get("Retry-After"); a.status >= 429 && (after == "" || strings.ContainsAny(after, ".smh")) {
				t.Errorf("%s: Retry-After %q", name, after)
			}
		}
		w.atRest()
	})
}
