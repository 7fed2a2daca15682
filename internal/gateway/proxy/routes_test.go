// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/credentials"
	"github.com/headgate-dev/headgate/internal/gateway/spool"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/testing/canary"
)

func TestGatewayIsNoOpenProxy(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { answerOK(w) })
	simulate(t, s, onePolicy(anthropicRoute(), openaiRoute()), func(w *world) {
		for _, tc := range []struct {
			request string
			status  int
		}{
			{"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example", 403},
			{"GET http://gateway/anthropic/v1/models HTTP/1.1\r\nHost: gateway", 403},
			{"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443", 403},
			{"GET /openai/../anthropic/v1/models HTTP/1.1\r\nHost: gateway", 400},
			{"GET /openai/%2e%2e/anthropic HTTP/1.1\r\nHost: gateway", 400},
			{"GET /openai/v1%2f..%2f..%2fadmin HTTP/1.1\r\nHost: gateway", 400},
			{"GET /openai/v1/..;x/admin HTTP/1.1\r\nHost: gateway", 400},
			{"GET /openai/v1/..%5cadmin HTTP/1.1\r\nHost: gateway", 400},
			{"GET /nobody/v1/models HTTP/1.1\r\nHost: gateway", 404},
			{"GET / HTTP/1.1\r\nHost: gateway", 404},
			{"GET /openai/v1/models HTTP/1.1\r\nHost: evil.example", 200},
			{"GET //openai//v1//models HTTP/1.1\r\nHost: gateway", 200},
		} {
			resp, body := w.raw(tc.request)
			if resp.StatusCode != tc.status {
				t.Errorf("%q: status %d %s", tc.request, resp.StatusCode, body)
			}
			if tc.status == 404 && (!strings.Contains(body, "/anthropic, ") || !strings.Contains(body, "/openai, ")) {
				t.Errorf("the routes are not named: %s", body)
			}
		}
	})
}

// raw sends a request as it is written.
func (w *world) raw(head string) (*http.Response, string) {
	w.t.Helper()
	conn, err := w.client.Transport.(*http.Transport).DialContext(context.Background(), "tcp", "gateway:80")
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	go func() { _, _ = fmt.Fprintf(conn, "%s\r\nConnection: close\r\n\r\n", head) }()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	return resp, string(body)
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
		fail(w, http.StatusTemporaryRedirect, "", "Location", "http://elsewhere/")
	})
	simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
		w.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		a := w.ask(10)
		if a.status != http.StatusTemporaryRedirect || a.header.Get("Location") != "http://elsewhere/" || s.count() != 1 {
			t.Errorf("answer %d %v after %d sends", a.status, a.header, s.count())
		}
		if spent := w.figures("anthropic").spent("input-tokens"); spent != 0 {
			t.Errorf("a redirect costs %v tokens", spent)
		}
	})
}

func TestD16PathsAreThoseTheProviderKnows(t *testing.T) {
	var got []string
	s := scripted(func(_ int, w http.ResponseWriter, r *http.Request) {
		got = append(got, r.URL.RequestURI())
		answerOK(w)
	})
	paths := []string{"/openai/v1/chat/completions", "/openai/chat/completions", "/openai//chat/completions?x=1", "/openai/v1/files/a%2Fb"}
	for base, want := range map[string]string{
		"http://provider/base":     "/base/v1/chat/completions /base/v1/chat/completions /base/v1/chat/completions?x=1 /base/v1/files/a%2Fb",
		"http://provider/base/v1":  "/base/v1/chat/completions /base/v1/chat/completions /base/v1/chat/completions?x=1 /base/v1/files/a%2Fb",
		"http://provider/base/v1/": "/base/v1/chat/completions /base/v1/chat/completions /base/v1/chat/completions?x=1 /base/v1/files/a%2Fb",
		"http://provider/a%2Fb/":   "/a%2Fb/v1/chat/completions /a%2Fb/v1/chat/completions /a%2Fb/v1/chat/completions?x=1 /a%2Fb/v1/files/a%2Fb",
	} {
		got = nil
		route := openaiRoute()
		route.BaseURL = base
		simulate(t, s, onePolicy(route), func(w *world) {
			for _, path := range paths {
				w.post(path, `{}`)
			}
		})
		if strings.Join(got, " ") != want {
			t.Errorf("%s: paths %v", base, got)
		}
	}
}

func TestRouteWithoutPolicyPassesAndIsCounted(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { throttle(w, "Retry-After", "1") })
	p := onePolicy()
	p.Policies = nil
	simulate(t, s, p, func(w *world) {
		w.gateway.SetTransport(plainly{w.upstream})
		for range 3 {
			if a := w.ask(10); a.status != http.StatusTooManyRequests || a.header.Get("X-Should-Retry") != "" || a.took > time.Second {
				t.Errorf("answer %d %v after %s", a.status, a.header, a.took)
			}
		}
		if n := w.figures("anthropic").tally.TooManyRequests.Load(); n != 3 {
			t.Errorf("%d are counted", n)
		}
		if len(w.gateway.Snapshot(time.Now(), true)) != 0 {
			t.Error("a route without policy is reported to the coordinator")
		}
		w.atRest()
	})
}

// plainly goes to the simulated provider instead of the real one.
type plainly struct{ next http.RoundTripper }

func (p plainly) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" || r.URL.Host != "api.anthropic.com" {
		return nil, errors.New("not the provider: " + r.URL.Host)
	}
	r.URL.Scheme = "http"
	return p.next.RoundTrip(r)
}

func TestObserveNeverWaitsRefusesOrRetriesAndCountsWhatItWouldHaveDone(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { answerOK(w) })
	route := anthropicRoute(perMinute("input-tokens", plan.InputTokens, 1_000))
	route.Observe = true
	simulate(t, s, onePolicy(route), func(w *world) {
		for range 30 {
			if a := w.ask(100); a.status != http.StatusOK || a.took > 50*time.Millisecond {
				t.Errorf("answer %d after %s", a.status, a.took)
			}
		}
		counts := w.figures("anthropic").lanes[0].Counts()
		if counts.WouldHaveWaited == 0 || counts.WouldHaveRefused == 0 || counts.WouldHaveWaited+counts.WouldHaveRefused < 19 || counts.WouldHaveWaited+counts.WouldHaveRefused > 21 {
			t.Errorf("%d would have waited, %d been refused", counts.WouldHaveWaited, counts.WouldHaveRefused)
		}
		// Those that would have waited are charged when they would have gone.
		time.Sleep(2 * time.Minute)
		charged := 100 * float64(30-counts.WouldHaveRefused)
		if spent := w.figures("anthropic").spent("input-tokens"); spent < 0.97*charged || spent > 1.03*charged {
			t.Errorf("%v is charged, %d would have waited", spent, counts.WouldHaveWaited)
		}
		w.atRest()
	})
}

func TestPlanEditsKeepLevelsAndWakeWaiters(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { answerOK(w) })
	simulate(t, s, onePolicy(anthropicRoute(perMinute("input-tokens", plan.InputTokens, 600))), func(w *world) {
		w.ask(600)
		unrelated := onePolicy(anthropicRoute(perMinute("input-tokens", plan.InputTokens, 600)))
		unrelated.Policies[0].Routes[0].Throttle.MaxAttempts = 5
		before := w.figures("anthropic").level("input-tokens")
		w.gateway.Apply(unrelated, time.Now())
		if got := w.figures("anthropic").level("input-tokens"); got != before {
			t.Errorf("the level went from %v to %v", before, got)
		}
		done := make(chan answer)
		go func() { done <- w.ask(400) }()
		time.Sleep(time.Second)
		w.gateway.Apply(onePolicy(anthropicRoute(perMinute("input-tokens", plan.InputTokens, 60_000))), time.Now())
		if a := <-done; a.status != http.StatusOK || a.took > 3*time.Second {
			t.Errorf("a waiter got %d after %s", a.status, a.took)
		}
		w.atRest()
	})
}

func TestKeyOfTheGatewayReplacesTheAppsAndNeverLeavesOverHTTP(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { answerOK(w) })
	dir := t.TempDir()
	for name, text := range map[string]string{"anthropic": canary.Key("ours"), "anthropic.hosts": "provider"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	route := anthropicRoute(canonical...)
	route.CredentialKey = "anthropic"
	simulate(t, s, onePolicy(route), func(w *world) {
		store := credentials.New(dir)
		if _, err := store.Reload(); err != nil {
			t.Fatal(err)
		}
		w.gateway.opts.Credentials = store
		a := w.ask(10)
		if a.status != http.StatusServiceUnavailable || s.count() != 0 || strings.Contains(a.body, canary.Key("ours")) {
			t.Errorf("over http: answer %d %s, %d sends", a.status, a.body, s.count())
		}
		w.atRest()
	})
}

func TestB12BodiesArriveUnchangedAndMemoryIsBounded(t *testing.T) {
	var sums []string
	s := scripted(func(_ int, w http.ResponseWriter, r *http.Request) {
		h := sha256.New()
		_, _ = io.Copy(h, r.Body)
		sums = append(sums, fmt.Sprintf("%x", h.Sum(nil)))
		answerOK(w)
	})
	simulate(t, s, onePolicy(anthropicRoute(perMinute("input-tokens", plan.InputTokens, 1e10))), func(w *world) {
		w.gateway.opts.Memory = spool.NewBudget(40 << 20)
		for _, size := range []int{1, 100 << 10, 6 << 20, 33 << 20} {
			body := message(size / 3)
			a := w.post(anthropicPath, body)
			if a.status != http.StatusOK || sums[len(sums)-1] != fmt.Sprintf("%x", sha256.Sum256([]byte(body))) {
				t.Errorf("%d bytes: answer %d %s", size, a.status, a.body)
			}
		}
		w.gateway.opts.Memory = spool.NewBudget(1 << 20)
		a := w.post(anthropicPath, message(2<<20/3))
		if a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" {
			t.Errorf("over the budget: answer %d %v", a.status, a.header)
		}
		w.atRest()
	})
}

// Observe also adds nothing to what the gateway repeats for itself: a call whose usage could not be asked for goes
// again at once, whatever the limits say.
func TestObserveRepeatsWithoutUsageAtOnce(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "stream_options") {
			fail(w, http.StatusBadRequest, `{"error":{"message":"Unrecognized request argument supplied: stream_options","type":"invalid_request_error"}}`)
			return
		}
		chat(w, false)
	})
	route := openaiRoute(perMinute("requests", plan.Requests, 1))
	route.Observe = true
	simulate(t, s, onePolicy(route), func(w *world) {
		for i := range 3 {
			w.gateway.rejectsUsage = hosts{}
			a := w.post("/openai/v1/chat/completions", `{"model":"gpt-4o","stream":true,"messages":[{"role":"user","content":"hello"}]}`)
			if a.status != http.StatusOK || a.took > 50*time.Millisecond || s.count() != 2*(i+1) {
				t.Errorf("answer %d after %s and %d sends", a.status, a.took, s.count())
			}
		}
		time.Sleep(5 * time.Minute)
		w.atRest()
	})
}
