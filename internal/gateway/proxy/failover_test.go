// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/gateway/tally"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/testing/canary"
)

// pair is a policy whose route anthropic fails over to the route second, on the same host.
func pair(change func(first, second *plan.Route)) *plan.Plan {
	first, second := anthropicRoute(canonical...), anthropicRoute(canonical...)
	first.BaseURL, second.BaseURL = "http://provider/first", "http://provider/second"
	first.Throttle.OnCeilingExceeded, first.Throttle.FailoverTo = plan.Failover, "second"
	second.Name = "second"
	if change != nil {
		change(&first, &second)
	}
	return onePolicy(first, second)
}

// providers are both routes' providers.
type providers struct{ first, second *script }

func (p *providers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/second/") {
		p.second.ServeHTTP(w, r)
		return
	}
	p.first.ServeHTTP(w, r)
}

// farOff is a pair whose first tells every call to come back in 500 s, and whose second does as it is told.
func farOff(second func(n int, w http.ResponseWriter, r *http.Request)) *providers {
	return &providers{
		first: scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
			throttle(w, "Retry-After", "500", "Request-Id", "req_first")
		}),
		second: scripted(second),
	}
}

// fine bills as many tokens as the call says that it has.
func fine(_ int, w http.ResponseWriter, r *http.Request) {
	tokens := r.Header.Get("X-Fake-Input-Tokens")
	fail(w, http.StatusOK, strings.Replace(okMessage, `"input_tokens":100`, `"input_tokens":`+tokens, 1))
}

// drain takes tokens of the second route.
func (w *world) drain(tokens int) {
	w.t.Helper()
	a := w.post("/second/v1/messages", message(tokens), "x-api-key", canary.Key("1"), "x-fake-input-tokens", strconv.Itoa(tokens))
	if a.status != http.StatusOK && a.status != http.StatusPaymentRequired {
		w.t.Errorf("the second answers %d %s", a.status, a.body)
	}
}

func (p *providers) sent(t *testing.T, first, second int) {
	t.Helper()
	if p.first.count() != first || p.second.count() != second {
		t.Errorf("%d sends to the first and %d to the second, want %d and %d", p.first.count(), p.second.count(), first, second)
	}
}

// refusedByFirst fails unless a is the first provider's own refusal, with its wait.
func (a answer) refusedByFirst(t *testing.T) {
	t.Helper()
	after, _ := strconv.Atoi(a.header.Get("Retry-After"))
	if a.status != http.StatusTooManyRequests || a.body != throttled || after < 500 || a.header.Get("Request-Id") != "req_first" ||
		a.header.Get(HeaderReason) != "CeilingExceeded" || a.header.Get("X-Should-Retry") != "false" || a.header.Get(HeaderFailover) != "" {
		t.Errorf("answer %d %s %v", a.status, a.body, a.header)
	}
}

func TestFailoverServesTheCallOnTheNamedRouteAndSaysSo(t *testing.T) {
	p := farOff(fine)
	simulate(t, p, pair(nil), func(w *world) {
		var log bytes.Buffer
		w.gateway.opts.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		a := w.ask(100, "Idempotency-Key", "k-1")
		if a.status != http.StatusOK || !strings.Contains(a.body, `"input_tokens":100`) || a.header.Get(HeaderFailover) != "anthropic -> second" || a.took > 100*time.Millisecond {
			t.Errorf("answer %d %s %v after %s", a.status, a.body, a.header, a.took)
		}
		p.sent(t, 1, 1)
		if p.first.bodies[0] != p.second.bodies[0] || p.second.headers[0].Get("Idempotency-Key") != "k-1" || p.second.headers[0].Get("X-Api-Key") != canary.Key("1") {
			t.Errorf("the second got %s %v", p.second.bodies[0], p.second.headers[0])
		}
		first, second := w.figures("anthropic"), w.figures("second")
		if spent := first.spent("input-tokens"); spent != 0 {
			t.Errorf("the refused call keeps %v tokens of its route", spent)
		}
		if spent := second.spent("input-tokens"); spent != 100 {
			t.Errorf("the other route is charged %v tokens", spent)
		}
		if diff := cmp.Diff(map[tally.Failover]uint64{{To: "second", Outcome: outcomeSuccess}: 1}, first.tally.Failovers()); diff != "" || first.tally.FailedOver.Load() != 1 {
			t.Errorf("%d failed over: %s", first.tally.FailedOver.Load(), diff)
		}
		ended := func(f figuresOf) map[tally.Ended]uint64 { return f.lanes[0].Counts().Ended }
		if diff := cmp.Diff(map[tally.Ended]uint64{{Outcome: outcomeFailedOver}: 1}, ended(first)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[tally.Ended]uint64{{Outcome: outcomeSuccess}: 1}, ended(second)); diff != "" {
			t.Error(diff)
		}
		if n := strings.Count(log.String(), `"failover":"anthropic -> second"`); n != 2 {
			t.Errorf("%d lines of the log name the failover: %s", n, &log)
		}
		w.atRest()
	})
}

// TestFailoverHoldsWhileTheWaitStands: the provider said no for all, and is not asked by each call anew.
func TestFailoverHoldsWhileTheWaitStands(t *testing.T) {
	p := farOff(fine)
	simulate(t, p, pair(nil), func(w *world) {
		for range 5 {
			if a := w.ask(100); a.status != http.StatusOK || a.header.Get(HeaderFailover) == "" {
				t.Errorf("answer %d %v", a.status, a.header)
			}
		}
		p.sent(t, 1, 5)
		// What is left of it can be honoured, and is: this call has no time for it.
		time.Sleep(475 * time.Second)
		if a := w.ask(100, HeaderDeadline, "5s"); a.status != http.StatusTooManyRequests || a.header.Get(HeaderReason) != "Deadline" || a.header.Get("Retry-After") > "30" {
			t.Errorf("answer %d %v", a.status, a.header)
		}
		p.sent(t, 1, 5)
		p.first.do = fine
		time.Sleep(35 * time.Second)
		if a := w.ask(100); a.status != http.StatusOK || a.header.Get(HeaderFailover) != "" {
			t.Errorf("after the wait: answer %d %v", a.status, a.header)
		}
		p.sent(t, 2, 5)
		w.atRest()
	})
}

// TestFailoverIsOnlyForWaitsAboveTheCeiling: what the policy's own limits refuse stays refused.
func TestFailoverIsOnlyForWaitsAboveTheCeiling(t *testing.T) {
	p := farOff(fine)
	p.first.do = fine
	tight := func(first, _ *plan.Route) {
		first.Limits = []plan.Limit{perMinute("input-tokens", plan.InputTokens, 600)}
	}
	simulate(t, p, pair(tight), func(w *world) {
		w.ask(600)
		if a := w.ask(600, HeaderDeadline, "10s"); a.status != http.StatusTooManyRequests || a.header.Get(HeaderReason) != "Deadline" {
			t.Errorf("answer %d %v", a.status, a.header)
		}
		p.sent(t, 1, 0)
		w.atRest()
	})
	honoured := farOff(fine)
	honoured.first.do = func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			throttle(w, "Retry-After", "30")
			return
		}
		answerOK(w)
	}
	simulate(t, honoured, pair(nil), func(w *world) {
		if a := w.ask(100); a.status != http.StatusOK || a.took < 30*time.Second || a.header.Get(HeaderFailover) != "" {
			t.Errorf("answer %d %v after %s", a.status, a.header, a.took)
		}
		honoured.sent(t, 2, 0)
		w.atRest()
	})
}

func TestFailoverNeverHappens(t *testing.T) {
	other := func(change func(p *plan.Plan)) *plan.Plan {
		p := pair(nil)
		change(p)
		return p
	}
	large := strings.Repeat("x", 33<<20)
	for name, tc := range map[string]struct {
		plan   *plan.Plan
		method string
		path   string
		body   string
		// unavailable: the policy names a route that may not serve the call, which is counted.
		unavailable uint64
	}{
		"where the policy declines":    {plan: pair(func(first, _ *plan.Route) { first.Throttle.OnCeilingExceeded = "" })},
		"in Observe":                   {plan: pair(func(first, _ *plan.Route) { first.Observe = true })},
		"for a free operation":         {plan: pair(nil), method: http.MethodGet, path: "/anthropic/v1/models"},
		"with a body that is gone":     {plan: pair(func(first, _ *plan.Route) { first.Limits = nil }), body: large},
		"to another dialect":           {plan: pair(func(_, second *plan.Route) { second.Dialect = "OpenAI" }), unavailable: 1},
		"to itself":                    {plan: pair(func(first, _ *plan.Route) { first.Throttle.FailoverTo = "anthropic" }), unavailable: 1},
		"to a route that is not there": {plan: pair(func(first, _ *plan.Route) { first.Throttle.FailoverTo = "third" }), unavailable: 1},
		"to a route of another policy": {plan: other(func(p *plan.Plan) {
			mine := p.Policies[0]
			theirs := plan.Policy{Name: "before", Generation: 1, MaxGateways: 4, Routes: []plan.Route{openaiRoute()}}
			theirs.Routes[0].Name = "second"
			p.Policies = []plan.Policy{theirs, mine}
		}), unavailable: 1},
		"to a host nobody may call": {plan: pair(func(_, second *plan.Route) { second.BaseURL = "http://169.254.169.254/second" })},
	} {
		t.Run(name, func(t *testing.T) {
			p := farOff(fine)
			simulate(t, p, tc.plan, func(w *world) {
				if tc.method == "" {
					tc.method, tc.path = http.MethodPost, anthropicPath
				}
				if tc.body == "" {
					tc.body = message(10)
				}
				a := w.do(context.Background(), tc.method, tc.path, tc.body, "x-api-key", canary.Key("1"))
				if a.status != http.StatusTooManyRequests || a.body != throttled || a.header.Get(HeaderFailover) != "" {
					t.Errorf("answer %d %s %v %v", a.status, a.body, a.header, a.err)
				}
				p.sent(t, 1, 0)
				var unavailable uint64
				for f, n := range w.figures("anthropic").tally.Failovers() {
					if f.Outcome == tally.FailoverUnavailable {
						unavailable += n
					}
				}
				if unavailable != tc.unavailable {
					t.Errorf("%d failovers count as unavailable", unavailable)
				}
				w.atRest()
			})
		})
	}
}

// TestFailoverChoosesItsLaneByTheRequestAsItCame: what leaves the headers before a send is still there.
func TestFailoverChoosesItsLaneByTheRequestAsItCame(t *testing.T) {
	p := farOff(fine)
	simulate(t, p, pair(func(_, second *plan.Route) {
		nightly := second.Lanes[0]
		nightly.Name, nightly.SharePermille, nightly.Header = "nightly", 0, &plan.Header{Name: "Headgate-Class", Value: "nightly"}
		second.Lanes = append([]plan.Lane{nightly}, second.Lanes...)
	}), func(w *world) {
		if a := w.ask(10, "Headgate-Class", "nightly"); a.status != http.StatusOK {
			t.Errorf("answer %d", a.status)
		}
		if n := w.figures("second").lanes[0].Counts().Sent; n != 1 || p.second.headers[0].Get("Headgate-Class") != "" {
			t.Errorf("%d calls went in the lane, with the headers %v", n, p.second.headers[0])
		}
		w.atRest()
	})
}

// TestFailoverIsNeverDoneTwice: also where a plan would lead back and forth, which no valid one does.
func TestFailoverIsNeverDoneTwice(t *testing.T) {
	p := farOff(func(_ int, w http.ResponseWriter, _ *http.Request) { throttle(w, "Retry-After", "700") })
	back := func(_, second *plan.Route) {
		second.Throttle.OnCeilingExceeded, second.Throttle.FailoverTo = plan.Failover, "anthropic"
	}
	simulate(t, p, pair(back), func(w *world) {
		a := w.ask(100)
		if a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") != "700" || a.header.Get(HeaderFailover) != "anthropic -> second" {
			t.Errorf("answer %d %v", a.status, a.header)
		}
		p.sent(t, 1, 1)
		w.atRest()
	})
}

func TestFailoverBeforeContentAndNeverAfterIt(t *testing.T) {
	const (
		chunk   = `{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"%"},"finish_reason":null}]}`
		limited = `{"error":{"message":"Rate limit reached. Please try again in 500s.","type":"tokens","code":"rate_limit_exceeded"}}`
	)
	for _, content := range []bool{false, true} {
		p := farOff(func(_ int, w http.ResponseWriter, _ *http.Request) {
			event(w, "", strings.Replace(chunk, "%", "from the second", 1))
			event(w, "", "[DONE]")
		})
		p.first.do = func(_ int, w http.ResponseWriter, _ *http.Request) {
			if content {
				event(w, "", strings.Replace(chunk, "%", "from the first", 1))
			}
			event(w, "", limited)
		}
		openAI := func(first, second *plan.Route) { first.Dialect, second.Dialect = "OpenAI", "OpenAI" }
		simulate(t, p, pair(openAI), func(w *world) {
			a := w.post("/anthropic/v1/chat/completions", `{"model":"m","stream":true,"messages":[]}`, "Authorization", "Bearer sk-1")
			marked := a.header.Get(HeaderFailover) != ""
			if a.status != http.StatusOK || marked == content || strings.Contains(a.body, "from the second") == content ||
				strings.Contains(a.body, "Rate limit reached") != content {
				t.Errorf("content %v: answer %d %v %s", content, a.status, a.header, a.body)
			}
			w.atRest()
		})
	}
}

// TestFailoverThatIsRefusedPassesTheFirstRefusalOn: with its own wait, which is what the caller must know.
func TestFailoverThatIsRefusedPassesTheFirstRefusalOn(t *testing.T) {
	empty := perMinute("input-tokens", plan.InputTokens, 600)
	for name, tc := range map[string]struct {
		change  func(first, second *plan.Route)
		tokens  int
		outcome string
	}{
		"no room in time":      {func(_, second *plan.Route) { second.Limits = []plan.Limit{empty} }, 590, outcomeRefused},
		"too large":            {func(_, second *plan.Route) { second.Limits = []plan.Limit{empty} }, 1000, outcomeRefused},
		"nothing may pass":     {func(_, second *plan.Route) { second.Limits = []plan.Limit{perMinute("none", plan.Requests, 0)} }, 10, outcomeRefused},
		"a key it has not":     {func(_, second *plan.Route) { second.CredentialKey = "none" }, 10, outcomeRefused},
		"a host without a key": {func(_, second *plan.Route) { second.BaseURL = "http://elsewhere/second" }, 10, outcomeRefused},
		"an exhausted quota":   {nil, 11, outcomeRefused},
	} {
		t.Run(name, func(t *testing.T) {
			p := farOff(fine)
			simulate(t, p, pair(tc.change), func(w *world) {
				if name == "an exhausted quota" {
					p.second.do = func(_ int, w http.ResponseWriter, _ *http.Request) {
						fail(w, http.StatusPaymentRequired, `{"type":"error","error":{"type":"billing_error","message":"x"}}`)
					}
				}
				if tc.tokens > 10 {
					w.drain(590)
				}
				before := p.second.count()
				w.ask(tc.tokens).refusedByFirst(t)
				p.sent(t, 1, before)
				if got := w.figures("anthropic").tally.Failovers()[tally.Failover{To: "second", Outcome: tc.outcome}]; got != 1 {
					t.Errorf("counted as %v", w.figures("anthropic").tally.Failovers())
				}
				if n := w.figures("anthropic").tally.FailedOver.Load(); n != 0 {
					t.Errorf("%d count as answered elsewhere", n)
				}
				w.endedAs(outcomeFailed, 1+uint64(map[bool]int{true: 1}[name == "an exhausted quota"]))
				w.atRest()
			})
		})
	}
}

// TestFailoverThatWaitsInVainPassesTheFirstRefusalOn: the other route took it in, and could not keep that.
func TestFailoverThatWaitsInVainPassesTheFirstRefusalOn(t *testing.T) {
	p := farOff(fine)
	small := func(amount int64) *plan.Plan {
		return pair(func(_, second *plan.Route) {
			second.Limits = []plan.Limit{perMinute("input-tokens", plan.InputTokens, amount)}
		})
	}
	simulate(t, p, small(600), func(w *world) {
		w.drain(590)
		time.AfterFunc(5*time.Second, func() { w.gateway.Apply(small(300), time.Now()) })
		a := w.ask(290)
		a.refusedByFirst(t)
		if a.took < 5*time.Second || a.took > time.Minute {
			t.Errorf("answered after %s", a.took)
		}
		p.sent(t, 1, 1)
		w.atRest()
	})
}

// TestFailoverHasTheTimeThatIsLeft, in a lane of the other route's own.
func TestFailoverHasTheTimeThatIsLeft(t *testing.T) {
	for name, tc := range map[string]struct {
		deadline string
		status   int
	}{"enough": {"20s", http.StatusOK}, "too little": {"12s", http.StatusTooManyRequests}} {
		t.Run(name, func(t *testing.T) {
			p := farOff(fine)
			p.first.do = func(_ int, w http.ResponseWriter, _ *http.Request) {
				time.Sleep(4 * time.Second)
				throttle(w, "Retry-After", "500")
			}
			simulate(t, p, pair(func(_, second *plan.Route) {
				second.Limits = []plan.Limit{perMinute("input-tokens", plan.InputTokens, 600)}
				bulk := second.Lanes[0]
				bulk.Name, bulk.MinInputTokens, bulk.SharePermille = "bulk", 50, 0
				second.Lanes[0].SharePermille = 0
				second.Lanes = append([]plan.Lane{bulk}, second.Lanes...)
			}), func(w *world) {
				w.drain(590)
				// 100 tokens are there about 9 s later, some of which pass while the first thinks.
				a := w.ask(140, HeaderDeadline, tc.deadline)
				if a.status != tc.status || a.took > 20*time.Second || tc.status == http.StatusOK && a.took < 10*time.Second {
					t.Errorf("answer %d after %s", a.status, a.took)
				}
				if counts := w.figures("second").lanes[0].Counts(); counts.Offered != 2 {
					t.Errorf("%d calls are in the lane that takes large ones", counts.Offered)
				}
				w.atRest()
			})
		})
	}
}

// TestFailoverPassesOnWhatTheOtherAnswersAndNothingElse: its failures are answers, silence is none.
func TestFailoverPassesOnWhatTheOtherAnswersAndNothingElse(t *testing.T) {
	for name, tc := range map[string]struct {
		second   func(n int, w http.ResponseWriter, r *http.Request)
		status   int
		outcome  string
		sends    int
		answered bool
	}{
		"an error":             {func(_ int, w http.ResponseWriter, _ *http.Request) { fail(w, 500, `{}`) }, 500, outcomeFailed, 1, true},
		"a short wait, then":   {func(n int, w http.ResponseWriter, r *http.Request) { shortThenFine(n, w, r) }, 200, outcomeSuccess, 2, true},
		"a refusal of its own": {func(_ int, w http.ResponseWriter, _ *http.Request) { throttle(w, "Retry-After", "900") }, 429, outcomeFailed, 1, true},
		"a broken connection":  {func(int, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 429, outcomeUpstream, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := farOff(tc.second)
			simulate(t, p, pair(nil), func(w *world) {
				a := w.ask(10)
				if a.status != tc.status || (a.header.Get(HeaderFailover) != "") != tc.answered {
					t.Errorf("answer %d %v", a.status, a.header)
				}
				if !tc.answered {
					a.refusedByFirst(t)
				}
				p.sent(t, 1, tc.sends)
				if got := w.figures("anthropic").tally.Failovers()[tally.Failover{To: "second", Outcome: tc.outcome}]; got != 1 {
					t.Errorf("counted as %v", w.figures("anthropic").tally.Failovers())
				}
				w.atRest()
			})
		})
	}
}

func shortThenFine(n int, w http.ResponseWriter, _ *http.Request) {
	if n == 1 {
		throttle(w, "Retry-After", "1")
		return
	}
	answerOK(w)
}

func TestFailoverEndsWhenTheClientLeaves(t *testing.T) {
	hang := func(_ int, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	queued := func(_, second *plan.Route) {
		second.Limits = []plan.Limit{perMinute("input-tokens", plan.InputTokens, 600)}
	}
	for name, change := range map[string]func(first, second *plan.Route){"in the other queue": queued, "before the first byte": nil} {
		t.Run(name, func(t *testing.T) {
			p := farOff(fine)
			simulate(t, p, pair(change), func(w *world) {
				w.drain(590)
				p.second.do = hang
				ctx, cancel := context.WithTimeout(context.Background(), time.Second)
				defer cancel()
				if a := w.do(ctx, http.MethodPost, anthropicPath, message(400), "x-api-key", canary.Key("1")); a.err == nil {
					t.Errorf("answer %d", a.status)
				}
				synctest.Wait()
				w.endedAs(outcomeCancelled, 2)
				w.atRest()
			})
		})
	}
}
