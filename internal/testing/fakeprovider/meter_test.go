// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider_test

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// post sends a call straight to the handler.
func post(h http.Handler, path, body string, headers ...string) *http.Response {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("X-Api-Key", "sk-test")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// claude is a messages call of so many input tokens.
func claude(h http.Handler, input, output int64) *http.Response {
	body := fmt.Sprintf(`{"model":"claude-sonnet-4-5","max_tokens":%d,"messages":[{"role":"user","content":"hi"}]}`, output)
	return post(h, "/v1/messages", body, "X-Fake-Input-Tokens", strconv.FormatInt(input, 10))
}

// empty is the canonical account with nothing in it.
func empty() fakeprovider.Options {
	zero := 0.0
	p := fakeprovider.DefaultProfile(fakeprovider.Anthropic)
	for i := range p.Limits {
		if p.Limits[i].Budget == fakeprovider.InputTokens {
			p.Limits[i].StartPercent = &zero
		}
	}
	return fakeprovider.Options{Profiles: map[fakeprovider.Dialect]fakeprovider.Profile{fakeprovider.Anthropic: p}}
}

// TestCanonicalWaits: from an empty bucket a 60,000-token call waits 9 s, a chat call 0.3 s, and the call
// is admitted exactly then and not a millisecond before.
func TestCanonicalWaits(t *testing.T) {
	for name, tc := range map[string]struct {
		tokens int64
		wait   time.Duration
		said   string
	}{
		"bulk": {60_000, 9 * time.Second, "9"},
		"chat": {2_000, 300 * time.Millisecond, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := fakeprovider.New(empty())
				res := claude(s, tc.tokens, 1)
				if res.StatusCode != http.StatusTooManyRequests || res.Header.Get("Retry-After") != tc.said {
					t.Fatalf("status %d, Retry-After %q, want 429, %q", res.StatusCode, res.Header.Get("Retry-After"), tc.said)
				}
				time.Sleep(tc.wait - time.Millisecond)
				if res := claude(s, tc.tokens, 1); res.StatusCode != http.StatusTooManyRequests {
					t.Errorf("admitted a millisecond early")
				}
				time.Sleep(time.Millisecond)
				if res := claude(s, tc.tokens, 1); res.StatusCode != http.StatusOK {
					t.Errorf("status %d at the time that was told", res.StatusCode)
				}
			})
		})
	}
}

// TestOverloadedAccountConforms: whatever is offered, what is admitted is what refilled, and figures say so.
func TestOverloadedAccountConforms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakeprovider.New(empty())
		admitted := 0
		for range 900 { // 2,000 tokens every 0.2 s is 1.5 times the account
			if claude(s, 2_000, 1).StatusCode == http.StatusOK {
				admitted++
			}
			time.Sleep(200 * time.Millisecond)
		}
		if admitted < 595 || admitted > 600 {
			t.Errorf("%d calls admitted in 180 s, want 600 by refill", admitted)
		}
		input := budgetOf(t, s, fakeprovider.InputTokens)
		if input.Spent != float64(admitted)*2_000 || input.UtilisationShare < 0.999 || input.UtilisationShare > 1.001 {
			t.Errorf("figures = %+v", input)
		}
		// 1.5 times 400,000 a minute for 3 minutes is 600,000 more than refills, of which a burst is free.
		if want := 200_000.0; math.Abs(input.MaxExcess-want) > 2_000 {
			t.Errorf("excess %v, want %v", input.MaxExcess, want)
		}
	})
}

func budgetOf(t *testing.T, s *fakeprovider.Server, b fakeprovider.Budget) fakeprovider.BudgetStats {
	t.Helper()
	for _, a := range s.Stats().Accounts {
		for _, stats := range a.Budgets {
			if stats.Budget == b {
				return stats
			}
		}
	}
	t.Fatalf("no figures for %s", b)
	return fakeprovider.BudgetStats{}
}

func TestUnusedRefillIsNotUtilisation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakeprovider.New(fakeprovider.Options{})
		claude(s, 40_000, 1)
		time.Sleep(66 * time.Second) // full again after 6
		claude(s, 40_000, 1)
		got := budgetOf(t, s, fakeprovider.InputTokens)
		if want := 80_000.0 / (400_000 + 440_000 - 360_000); math.Abs(got.UtilisationShare-want) > 1e-6 {
			t.Errorf("utilisation %v, want %v", got.UtilisationShare, want)
		}
	})
}

func TestCharges(t *testing.T) {
	for name, tc := range map[string]struct {
		charges fakeprovider.Charges
		want    float64 // of 400,000 output tokens, after a call that allows 50,000 and produces 10
	}{
		"max at admission":     {fakeprovider.MaxAtAdmission, 350_000},
		"estimate then actual": {fakeprovider.EstimateThenActual, 399_990},
		"as produced":          {fakeprovider.AsProduced, 399_990},
	} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stream %v", name, stream), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := fakeprovider.New(fakeprovider.Options{Profiles: map[fakeprovider.Dialect]fakeprovider.Profile{
						fakeprovider.Anthropic: {
							Charges: tc.charges,
							Limits:  []fakeprovider.Limit{{Budget: fakeprovider.OutputTokens, Amount: 400_000}},
						},
					}})
					body := fmt.Sprintf(`{"model":"m","max_tokens":50000,"stream":%v,"messages":[{"content":"[[output=10]]"}]}`, stream)
					if res := post(s, "/v1/messages", body); res.StatusCode != http.StatusOK {
						t.Fatalf("status %d", res.StatusCode)
					}
					if got := budgetOf(t, s, fakeprovider.OutputTokens).Level; got != tc.want {
						t.Errorf("level %v, want %v", got, tc.want)
					}
				})
			})
		}
	}
}

func TestChargingRejectedCallsSinksTheAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := empty()
		p := opts.Profiles[fakeprovider.Anthropic]
		p.ChargeRejected = true
		opts.Profiles[fakeprovider.Anthropic] = p
		s := fakeprovider.New(opts)
		claude(s, 60_000, 1)
		if res := claude(s, 60_000, 1); res.Header.Get("Retry-After") != "18" {
			t.Errorf("Retry-After %q after a charged refusal, want 18", res.Header.Get("Retry-After"))
		}
	})
}

func TestCachedInput(t *testing.T) {
	for name, tc := range map[string]struct {
		path, model string
		want        float64
	}{
		"Anthropic: reads are free and outside, writes outside": {"/v1/messages", "claude-x", 200 + 500},
		"OpenAI: inside": {"/v1/responses", "gpt-x", 200},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limits := []fakeprovider.Limit{{Budget: fakeprovider.InputTokens, Amount: 400_000}}
				s := fakeprovider.New(fakeprovider.Options{Profiles: map[fakeprovider.Dialect]fakeprovider.Profile{
					fakeprovider.Anthropic: {Limits: limits}, fakeprovider.OpenAI: {Limits: limits},
				}})
				body := fmt.Sprintf(`{"model":%q,"max_tokens":1,"input":"x","messages":[{"content":"x"}]}`, tc.model)
				post(s, tc.path, body, "X-Fake-Input-Tokens", "200", "X-Fake-Cached-Tokens", "8000",
					"X-Fake-Cache-Write-Tokens", "500")
				if got := budgetOf(t, s, fakeprovider.InputTokens).Spent; got != tc.want {
					t.Errorf("charged %v, want %v", got, tc.want)
				}
			})
		})
	}
}

func TestModelGroupsShareBuckets(t *testing.T) {
	s := fakeprovider.New(fakeprovider.Options{ModelGroups: []fakeprovider.ModelGroup{{Pattern: "claude-*", Name: "claude"}}})
	for _, model := range []string{"claude-a", "claude-b", "other"} {
		post(s, "/v1/messages", fmt.Sprintf(`{"model":%q,"max_tokens":1,"messages":[{"content":"x"}]}`, model))
	}
	var groups []string
	for _, a := range s.Stats().Accounts {
		groups = append(groups, fmt.Sprintf("%s:%d", a.Group, a.Admitted))
	}
	if got := strings.Join(groups, " "); got != "claude:2 other:1" {
		t.Errorf("groups = %s", got)
	}
}

// TestEverythingIsBounded: many keys, models, calls and faults leave a bounded state.
func TestEverythingIsBounded(t *testing.T) {
	s := fakeprovider.New(fakeprovider.Options{MaxAccounts: 10, MaxArrivals: 20, MaxFaults: 5})
	for i := range 100 {
		post(s, "/v1/messages", fmt.Sprintf(`{"model":"m-%d","max_tokens":1,"messages":[{"content":"x"}]}`, i))
	}
	if n := len(s.Stats().Accounts); n != 11 {
		t.Errorf("%d accounts, want 10 and the one for others", n)
	}
	arrivals := s.Arrivals()
	if len(arrivals) != 20 || arrivals[0].Seq != 81 || arrivals[19].Seq != 100 {
		t.Errorf("%d arrivals, from %d", len(arrivals), arrivals[0].Seq)
	}
	for i := range 6 {
		if err := s.Inject(fakeprovider.Fault{Kind: fakeprovider.FaultGzip}); (err != nil) != (i == 5) {
			t.Errorf("fault %d: %v", i, err)
		}
	}
}

func TestInputIsCountedFromText(t *testing.T) {
	image := `{"type":"image","source":{"type":"base64","data":"` + strings.Repeat("A", 4_000_000) + `"}}`
	for name, tc := range map[string]struct {
		path, body string
		want       int64
	}{
		"text":          {"/v1/messages", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"12345678"}]}`, 2},
		"parts":         {"/v1/messages", `{"model":"m","max_tokens":1,"system":"1234","messages":[{"content":[{"type":"text","text":"1234"}]}]}`, 2},
		"image":         {"/v1/messages", `{"model":"m","max_tokens":1,"messages":[{"content":[` + image + `,{"type":"text","text":"1234"}]}]}`, 1_001},
		"image in tool": {"/v1/messages", `{"model":"m","max_tokens":1,"messages":[{"content":[{"type":"tool_result","content":[` + image + `]}]}]}`, 1_000},
		"tokens":        {"/v1/completions", `{"model":"m","prompt":[1,2,3]}`, 3},
		"marker":        {"/v1/responses", `{"model":"m","input":"[[input=60000]]"}`, 60_000},
		"nothing":       {"/v1/embeddings", `{"model":"m","input":""}`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := fakeprovider.New(fakeprovider.Options{})
			post(s, tc.path, tc.body)
			if got := s.Arrivals()[0].InputTokens; got != tc.want {
				t.Errorf("counted %d, want %d", got, tc.want)
			}
		})
	}
}
