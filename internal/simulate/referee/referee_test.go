// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package referee

import (
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/registry"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/simulate/workload"
	_ "github.com/headgate-dev/headgate/internal/testing/seed"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func facts(t *testing.T, name string) dialect.Facts {
	t.Helper()
	f, ok := dialect.ByName(name)
	if !ok {
		t.Fatalf("no dialect %s", name)
	}
	return f
}

// account is the canonical one, with whatever else is asked for.
func account(more ...workload.Limit) workload.Provider {
	perMinute := func(budget string, amount float64) workload.Limit {
		return workload.Limit{Name: budget, Budget: budget, Amount: amount, Window: time.Minute, Burst: amount, Shape: workload.Continuous}
	}
	return workload.Provider{
		Route:   "anthropic",
		Limits:  append([]workload.Limit{perMinute(plan.Requests, 4000), perMinute(plan.InputTokens, 400_000)}, more...),
		Headers: workload.Headers{Remaining: true, RoundTo: 1000, RetryAfter: true},
	}
}

func level(p *Provider, name string, now time.Time) (at float64) {
	p.Levels(now, func(n string, level, _ float64) {
		if n == name {
			at = level
		}
	})
	return at
}

func TestACallOf60000TokensWaitsNineSecondsFromEmpty(t *testing.T) {
	p := New(account(), facts(t, "Anthropic"), 0, start)
	v := p.Arrive(Request{Input: 60_000}, start, 0)
	if v.Status != http.StatusTooManyRequests || !v.Waits || v.RetryAfter != 9*time.Second || v.Header.Get("Retry-After") != "9" {
		t.Fatalf("%+v", v)
	}
	if v := p.Arrive(Request{Input: 60_000}, start.Add(9*time.Second-time.Millisecond), 0); v.Status != http.StatusTooManyRequests || v.RetryAfter != time.Second {
		t.Errorf("a millisecond early: %+v", v)
	}
	if v := p.Arrive(Request{Input: 60_000}, start.Add(9*time.Second), 0); v.Status != http.StatusOK {
		t.Errorf("in time: %+v", v)
	}
	if got := level(p, plan.InputTokens, start.Add(9*time.Second)); math.Abs(got) > 1 {
		t.Errorf("%v tokens are left", got)
	}
}

func TestARefusalTakesNothingButWhatTheProviderChargesForIt(t *testing.T) {
	yes := true
	for charged, want := range map[*bool]float64{nil: 4000, &yes: 3999} {
		cfg := account()
		cfg.ChargesRejected = charged
		p := New(cfg, facts(t, "Anthropic"), 1, start)
		if v := p.Arrive(Request{Input: 400_001}, start, 0); v.Status != http.StatusTooManyRequests || v.Waits {
			t.Errorf("what never fits is answered %+v", v)
		}
		if got := level(p, plan.Requests, start); got != want {
			t.Errorf("%v requests are left, want %v", got, want)
		}
		if got := level(p, plan.InputTokens, start); got != 400_000 {
			t.Errorf("%v tokens are left", got)
		}
	}
}

func TestOutputIsChargedAsTheProviderDoes(t *testing.T) {
	output := workload.Limit{Name: plan.OutputTokens, Budget: plan.OutputTokens, Amount: 60_000, Window: time.Minute, Burst: 60_000}
	for charges, want := range map[string][3]float64{ // at admission, half way, at the end
		string(dialect.MaxAtAdmission):     {56_000, 56_000, 56_000},
		string(dialect.EstimateThenActual): {56_000, 56_000, 59_700},
		string(dialect.AsProduced):         {60_000, 59_850, 59_700},
	} {
		cfg := account(output)
		cfg.Charges = charges
		p := New(cfg, facts(t, "Anthropic"), 1, start)
		v := p.Arrive(Request{Input: 10, Output: 300, MaxTokens: 4000}, start, 0)
		got := [3]float64{level(p, plan.OutputTokens, start)}
		v.Hold.Produce(150, start)
		got[1] = level(p, plan.OutputTokens, start)
		v.Hold.Produce(300, start)
		v.Hold.Finish(start)
		if got[2] = level(p, plan.OutputTokens, start); got != want {
			t.Errorf("%s: %v, want %v", charges, got, want)
		}
	}
}

func TestNothingStartsOnADebt(t *testing.T) {
	cfg := account(workload.Limit{Name: plan.OutputTokens, Budget: plan.OutputTokens, Amount: 600, Window: time.Minute, Burst: 600})
	p := New(cfg, facts(t, "Anthropic"), 1, start)
	v := p.Arrive(Request{Input: 10, Output: 700}, start, 0)
	v.Hold.Produce(700, start)
	if v := p.Arrive(Request{Input: 10, Output: 1}, start, 0); v.Status != http.StatusTooManyRequests || v.RetryAfter != 10*time.Second {
		t.Errorf("%+v", v)
	}
	if got := p.Budgets(start)[plan.OutputTokens].MaxDebt; got != 100 {
		t.Errorf("a debt of %v", got)
	}
}

func TestSlotsComeBackWhenCallsEnd(t *testing.T) {
	p := New(account(workload.Limit{Name: plan.InFlight, Budget: plan.InFlight, Amount: 2}), facts(t, "Anthropic"), 1, start)
	first := p.Arrive(Request{Input: 1}, start, 0)
	second := p.Arrive(Request{Input: 1}, start, 0)
	if v := p.Arrive(Request{Input: 1}, start.Add(time.Hour), 0); v.Status != http.StatusTooManyRequests || v.Waits {
		t.Errorf("a third is %+v", v)
	}
	first.Hold.Finish(start)
	if v := p.Arrive(Request{Input: 1}, start, 0); v.Status != http.StatusOK {
		t.Errorf("after one ended: %+v", v)
	}
	second.Hold.Finish(start)
	if b := p.Budgets(start)[plan.InFlight]; b.Used != 3 || b.Utilisation != 1 {
		t.Errorf("%+v", b)
	}
}

func TestAFixedWindowFillsAtItsBoundary(t *testing.T) {
	cfg := workload.Provider{Route: "r", ClockSkew: 10 * time.Second, Headers: workload.Headers{RetryAfter: true}, Limits: []workload.Limit{
		{Name: plan.Requests, Budget: plan.Requests, Amount: 2, Window: time.Minute, Burst: 2, Shape: workload.Fixed},
	}}
	p := New(cfg, facts(t, "OpenAI"), 1, start)
	for i, want := range []int{200, 200, 429} {
		if v := p.Arrive(Request{}, start.Add(time.Duration(i)*time.Second), 0); v.Status != want {
			t.Errorf("call %d: %d", i, v.Status)
		}
	}
	// The provider's minute ends ten seconds before ours.
	if v := p.Arrive(Request{}, start.Add(49*time.Second), 0); v.Status != 429 || v.RetryAfter != time.Second {
		t.Errorf("a second before the boundary: %+v", v)
	}
	if v := p.Arrive(Request{}, start.Add(50*time.Second), 0); v.Status != 200 {
		t.Errorf("at the boundary: %+v", v)
	}
	b := p.Budgets(start.Add(50 * time.Second))[plan.Requests]
	if b.Used != 3 || b.Utilisation != 1 || b.MaxExcess != 2 {
		t.Errorf("%+v", b) // two more than the window held came
	}
}

// What the provider says is in the dialect's words: the production reader finds the levels in it, whatever the
// provider's clock shows.
func TestTheDialectUnderstandsWhatIsSaid(t *testing.T) {
	tokens := workload.Limit{Name: plan.Tokens, Budget: plan.Tokens, Amount: 90_000, Window: time.Minute, Burst: 90_000}
	for name, limits := range map[string][]string{"Anthropic": {plan.Requests, plan.InputTokens}, "OpenAI": {plan.Requests, plan.Tokens}} {
		for _, skew := range []time.Duration{-time.Hour, 0, 4 * time.Second} {
			cfg := account()
			if name == "OpenAI" {
				cfg.Limits[1] = tokens
			}
			cfg.ClockSkew = skew
			p := New(cfg, facts(t, name), 0.5, start)
			d := registry.ByName(name)
			v := p.Arrive(Request{Input: 75_500}, start, 0)
			if name == "Anthropic" {
				v = Verdict{Status: 200, Header: v.Hold.Headers(start, 0)}
			}
			r := d.ReadHeaders(v.Status, v.Header, start)
			got := map[string]float64{}
			for _, b := range r.Budgets {
				got[b.Budget] = b.Remaining
				if !b.HasReset || b.Reset < 30*time.Second || b.Reset > 42*time.Second {
					t.Errorf("%s, skewed by %v: %s resets in %v", name, skew, b.Budget, b.Reset)
				}
			}
			want := map[string]float64{plan.Requests: 1999, plan.InputTokens: 125_000, plan.Tokens: 45_000}
			if name == "OpenAI" {
				want[plan.Requests] = 2000 // it was refused
			}
			for _, b := range limits {
				if got[b] != want[b] {
					t.Errorf("%s, skewed by %v: %s has %v left, want %v", name, skew, b, got[b], want[b])
				}
			}
		}
	}
}

func TestRefusalsAreClassifiedByTheDialect(t *testing.T) {
	for _, f := range dialect.All() {
		p := New(account(), f, 0, start)
		d := registry.ByName(f.Name)
		throttled := p.Arrive(Request{Input: 60_000}, start, 0)
		r := d.ReadHeaders(throttled.Status, throttled.Header, start)
		if got := d.ReadFailure(throttled.Status, throttled.Header, throttled.Body, &r); string(got.Class) != "throttle" {
			t.Errorf("%s takes a 429 for %s", f.Name, got.Class)
		}
		p.Overload(true)
		busy := p.Arrive(Request{Input: 1}, start, 0)
		r = d.ReadHeaders(busy.Status, busy.Header, start)
		if got := d.ReadFailure(busy.Status, busy.Header, busy.Body, &r); busy.Status != 529 || string(got.Class) != "overload" {
			t.Errorf("%s takes a %d for %s", f.Name, busy.Status, got.Class)
		}
	}
}

func TestHeadersMayBeMissing(t *testing.T) {
	cfg := account()
	cfg.Headers.MissingPercent = 50
	p := New(cfg, facts(t, "Anthropic"), 0, start)
	for draw, told := range map[float64]bool{0.1: false, 0.9: true} {
		v := p.Arrive(Request{Input: 60_000}, start, draw)
		if v.Waits != told || (len(v.Header) > 1) != told {
			t.Errorf("at %v: %+v", draw, v.Header)
		}
	}
	cfg.Headers = workload.Headers{}
	if v := New(cfg, facts(t, "Anthropic"), 0, start).Arrive(Request{Input: 60_000}, start, 0.9); len(v.Header) != 1 || v.Waits {
		t.Errorf("it tells %v", v.Header)
	}
}

func TestOutsidersTakeWhatIsThereAndNoMore(t *testing.T) {
	p := New(account(), facts(t, "Anthropic"), 0.5, start)
	o := &workload.Outsiders{InputTokensPerSecond: 150_000, CallsPerSecond: 10}
	p.Outsiders(o, 1, start)
	p.Outsiders(o, 1, start)
	if got := level(p, plan.InputTokens, start); got != 0 {
		t.Errorf("%v tokens are left", got)
	}
	b := p.Budgets(start)
	if in := b[plan.InputTokens]; in.Outsiders != 200_000 || in.Used != 0 || in.Utilisation != 1 {
		t.Errorf("%+v", in)
	}
	if r := b[plan.Requests]; r.Outsiders != 20 {
		t.Errorf("%+v", r)
	}
}

// Whatever arrives whenever, what is admitted fits each of the true buckets, and a refusal moves no level.
func TestWhatIsAdmittedConforms(t *testing.T) {
	f := facts(t, "Anthropic")
	rapid.Check(t, func(t *rapid.T) {
		share := rapid.Float64Range(0, 1).Draw(t, "level")
		p := New(account(), f, share, start)
		now, admitted := start, 0.0
		for range rapid.IntRange(1, 80).Draw(t, "calls") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(5*time.Second)).Draw(t, "dt")))
			input := rapid.Float64Range(1, 90_000).Draw(t, "input")
			before := level(p, plan.InputTokens, now)
			v := p.Arrive(Request{Input: input}, now, 0)
			if v.Status == http.StatusOK {
				admitted += input
			} else if level(p, plan.InputTokens, now) != before {
				t.Fatal("a refusal moved the level")
			}
			if most := share*400_000 + 400_000.0/60*now.Sub(start).Seconds(); admitted > most+1 {
				t.Fatalf("%v tokens were admitted of %v", admitted, most)
			}
		}
		if b := p.Budgets(now)[plan.InputTokens]; math.Abs(b.Used-admitted) > 1e-3 || b.Utilisation > 1+1e-9 || b.MaxDebt > 1e-3 {
			t.Fatalf("%+v, admitted %v", b, admitted)
		}
	})
}

func TestBodiesNameTheLimit(t *testing.T) {
	for name, want := range map[string]string{"Anthropic": "input tokens", "OpenAI": "rate_limit_exceeded"} {
		v := New(account(), facts(t, name), 0, start).Arrive(Request{Input: 60_000}, start, 0)
		if !strings.Contains(string(v.Body), want) {
			t.Errorf("%s: %s", name, v.Body)
		}
	}
}
