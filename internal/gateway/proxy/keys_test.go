// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/credentials"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/testing/canary"
)

// unwrapped sends what is meant for https without TLS, as the simulated provider takes it.
type unwrapped struct{ next http.RoundTripper }

func (u unwrapped) RoundTrip(r *http.Request) (*http.Response, error) {
	r.URL.Scheme = "http"
	return u.next.RoundTrip(r)
}

// withKeys gives the gateway keys, each with the hosts that it may go to, and lets it call over "https". It returns their
// directory.
func (w *world) withKeys(keys map[string]string) (dir string) {
	w.t.Helper()
	dir = w.t.TempDir()
	for name, host := range keys {
		for file, text := range map[string]string{name: canary.Key(name), name + ".hosts": host} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	store := credentials.New(dir)
	if _, err := store.Reload(); err != nil {
		w.t.Fatal(err)
	}
	w.gateway.opts.Credentials = store
	w.gateway.SetTransport(unwrapped{w.upstream})
	return dir
}

// sorted is a route with a lane for calls that say so, which has a key of its own.
func sorted(routeKey, laneKey string) plan.Route {
	r := anthropicRoute(canonical...)
	r.BaseURL, r.CredentialKey = "https://one.example", routeKey
	bulk := plan.Lane{
		Name: "bulk", Header: &plan.Header{Name: "X-Bulk"}, SharePermille: 300, MaxDepth: 10, MaxWaitMillis: 50_000, CredentialKey: laneKey,
	}
	r.Lanes[0].SharePermille = 700
	r.Lanes = append([]plan.Lane{bulk}, r.Lanes...)
	return r
}

func TestLaneSendsWithItsOwnKey(t *testing.T) {
	for name, tc := range map[string]struct {
		route            plan.Route
		keys             map[string]string
		wantBulk, wanted string
		refused          bool
	}{
		"its own and the route's": {sorted("route", "bulk"), map[string]string{"route": "one.example", "bulk": "one.example"}, canary.Key("bulk"), canary.Key("route"), false},
		"its own and the app's":   {sorted("", "bulk"), map[string]string{"bulk": "one.example"}, canary.Key("bulk"), canary.Key("1"), false},
		"none of its own":         {sorted("route", ""), map[string]string{"route": "one.example"}, canary.Key("route"), canary.Key("route"), false},
		"one that is missing":     {sorted("route", "bulk"), map[string]string{"route": "one.example"}, "", canary.Key("route"), true},
		"one for another host":    {sorted("route", "bulk"), map[string]string{"route": "one.example", "bulk": "two.example"}, "", canary.Key("route"), true},
	} {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(_ int, w http.ResponseWriter, r *http.Request) {
				if len(r.Header.Values("X-Api-Key")) != 1 || r.Header.Get("Authorization") != "" {
					t.Errorf("the provider got %v", r.Header)
				}
				w.Header().Set("X-Got", r.Header.Get("X-Api-Key"))
				answerOK(w)
			})
			simulate(t, s, onePolicy(tc.route), func(w *world) {
				w.withKeys(tc.keys)
				a := w.ask(10, "X-Bulk", "1")
				if tc.refused {
					if a.status != http.StatusServiceUnavailable || a.header.Get(HeaderReason) != reasonCredential || strings.Contains(a.body, "sk-") || !strings.Contains(a.body, `bulk`) {
						t.Errorf("answer %d %s %v", a.status, a.body, a.header)
					}
				} else if a.header.Get("X-Got") != tc.wantBulk {
					t.Errorf("the lane sent %q", a.header.Get("X-Got"))
				}
				if a = w.ask(10); a.header.Get("X-Got") != tc.wanted {
					t.Errorf("the other lane sent %q: %s", a.header.Get("X-Got"), a.body)
				}
				w.atRest()
			})
		})
	}
}

// TestLanesKeyIsAnAccountOfItsOwn: what the provider says of one key's budget, and of its quota, holds for that key.
func TestLanesKeyIsAnAccountOfItsOwn(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("X-Api-Key") != canary.Key("bulk"):
			answerOK(w)
		case r.Header.Get("X-Spent") != "":
			fail(w, http.StatusPaymentRequired, `{"type":"error","error":{"type":"billing_error","message":"x"}}`)
		default:
			throttle(w, "Retry-After", "45")
		}
	})
	simulate(t, s, onePolicy(sorted("route", "bulk")), func(w *world) {
		w.withKeys(map[string]string{"route": "one.example", "bulk": "one.example"})
		w.ask(10, "X-Bulk", "1")
		if a := w.ask(10, "X-Bulk", "1", HeaderDeadline, "5s"); a.status != http.StatusTooManyRequests || s.count() != 1 {
			t.Errorf("the throttled key's account: answer %d, %d sends", a.status, s.count())
		}
		if a := w.ask(10, HeaderDeadline, "5s"); a.status != http.StatusOK || a.took > time.Second {
			t.Errorf("the route's account waits for the lane's: answer %d after %s", a.status, a.took)
		}
		time.Sleep(2 * time.Minute)
		w.ask(10, "X-Bulk", "1", "X-Spent", "1")
		sends := s.count()
		if a := w.ask(10, "X-Bulk", "1"); a.header.Get(HeaderReason) != reasonQuota || s.count() != sends {
			t.Errorf("the lane's exhausted quota: answer %d %v", a.status, a.header)
		}
		if a := w.ask(10); a.status != http.StatusOK {
			t.Errorf("the route's key is taken for exhausted: answer %d", a.status)
		}
		w.atRest()
	})
}

// TestFailoverTakesNoKeyToAnotherHost: the app's own credentials go to the host that it called, a key of the gateway's
// to those that it is for.
func TestFailoverTakesNoKeyToAnotherHost(t *testing.T) {
	for name, tc := range map[string]struct {
		first, second string // the routes' keys
		host          string // of the second
		headers       []string
		want          string // the key the second gets; "" if it must not be called
	}{
		"the app's, to the same host":            {"", "", "https://one.example", nil, canary.Key("1")},
		"the app's, to another host":             {"", "", "https://two.example", nil, ""},
		"the app's, to another port":             {"", "", "https://one.example:8443", nil, ""},
		"the app's, to the same host in clear":   {"", "", "http://one.example", nil, ""},
		"a name below":                           {"", "", "https://a.one.example", nil, ""},
		"the app's beside a key of ours":         {"first", "", "https://one.example", nil, ""},
		"ours, to its host":                      {"", "second", "https://two.example", nil, canary.Key("second")},
		"both ours":                              {"first", "second", "https://two.example", nil, canary.Key("second")},
		"ours, to a host that it is not for":     {"first", "first", "https://two.example", nil, ""},
		"ours, that is not there":                {"first", "none", "https://two.example", nil, ""},
		"ours, in place of a signature":          {"", "second", "https://two.example", []string{"Authorization", "AWS4-HMAC-SHA256 Credential=AKIDSECRET/x, SignedHeaders=host, Signature=secret"}, canary.Key("second")},
		"a signature, which is for the path too": {"", "", "https://one.example", []string{"Authorization", "AWS4-HMAC-SHA256 Credential=AKIDSECRET/x, SignedHeaders=host, Signature=secret"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := farOff(fine)
			simulate(t, p, pair(func(first, second *plan.Route) {
				first.BaseURL, second.BaseURL = "https://one.example/first", tc.host+"/second"
				first.CredentialKey, second.CredentialKey = tc.first, tc.second
			}), func(w *world) {
				w.withKeys(map[string]string{"first": "one.example", "second": "two.example"})
				headers := append([]string{
					"Cookie", "session=secret", "Openai-Organization", "org-secret", "Anthropic-Workspace", "ws-secret",
					"X-Fake-Input-Tokens", "10", "X-Api-Key", canary.Key("1"), "X-Mine", "kept",
				}, tc.headers...)
				a := w.post(anthropicPath+"?beta=true&key=secret&access_token=secret", message(10), headers...)
				if tc.want == "" {
					if a.status != http.StatusTooManyRequests || a.body != throttled || p.second.count() != 0 {
						t.Errorf("answer %d %s, %d sends to the second", a.status, a.body, p.second.count())
					}
					w.atRest()
					return
				}
				if a.status != http.StatusOK || p.second.count() != 1 {
					t.Fatalf("answer %d %s, %d sends to the second", a.status, a.body, p.second.count())
				}
				got := p.second.headers[0]
				if got.Get("X-Api-Key") != tc.want || got.Get("X-Mine") != "kept" {
					t.Errorf("the second got %v", got)
				}
				if all := fmt.Sprint(got, p.second.uris[0]); tc.second != "" && (strings.Contains(all, "secret") || strings.Contains(all, canary.Key("1")) || strings.Contains(all, "SECRET")) {
					t.Errorf("the second got what was meant for the first: %s", all)
				}
				if !strings.Contains(p.second.uris[0], "beta=true") {
					t.Errorf("the second was asked %s", p.second.uris[0])
				}
				w.atRest()
			})
		})
	}
}
