// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/policy/decide"
)

// Every retry rule of a route reaches the decision, each as its own number.
func TestRetryRulesAreTheRoutes(t *testing.T) {
	got := settings(&plan.Route{
		Throttle: plan.Throttle{HonourCeilingMillis: 1, JitterPercent: 2, MaxAttempts: 3},
		Unguided: plan.Backoff{BaseMillis: 4, CapMillis: 5, Equal: true},
		Overload: plan.Overload{BaseMillis: 6, CapMillis: 7, MaxAttempts: 8},
	})
	want := decide.Settings{
		HonourCeiling: time.Millisecond, JitterPercent: 2, MaxAttempts: 3,
		Unguided:            decide.Backoff{Base: 4 * time.Millisecond, Cap: 5 * time.Millisecond, Equal: true},
		Overload:            decide.Backoff{Base: 6 * time.Millisecond, Cap: 7 * time.Millisecond},
		OverloadMaxAttempts: 8,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPatienceIsTheShortestThatIsSaid(t *testing.T) {
	for name, tc := range map[string]struct {
		header http.Header
		want   time.Duration
	}{
		"nothing":          {nil, time.Minute},
		"the caller":       {http.Header{HeaderDeadline: {"3s"}}, 3 * time.Second},
		"a longer one":     {http.Header{HeaderDeadline: {"3h"}}, time.Minute},
		"below zero":       {http.Header{HeaderDeadline: {"-3s"}}, 0},
		"junk":             {http.Header{HeaderDeadline: {"soon"}, "X-Stainless-Timeout": {"NaN"}}, time.Minute},
		"an SDK":           {http.Header{"X-Stainless-Timeout": {"9"}}, 9 * time.Second},
		"an SDK's reading": {http.Header{"X-Stainless-Read-Timeout": {"7.5"}}, 7500 * time.Millisecond},
		"Google's SDKs":    {http.Header{"X-Server-Timeout": {"12"}}, 12 * time.Second},
		"AWS' SDKs":        {http.Header{"Amz-Sdk-Request": {"ttl=20261130T100013Z; attempt=2; max=3"}}, 13 * time.Second},
		"a clock apart":    {http.Header{"Amz-Sdk-Request": {"attempt=2; ttl=20261130T095959Z"}}, time.Minute},
		"no time":          {http.Header{"Amz-Sdk-Request": {"ttl=soon; attempt=1"}}, time.Minute},
		"several":          {http.Header{HeaderDeadline: {"8s"}, "X-Stainless-Timeout": {"9"}, "X-Stainless-Read-Timeout": {"7"}}, 7 * time.Second},
	} {
		if got := patience(tc.header, time.Minute, time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

func TestFirstLaneThatMatchesTakesTheCall(t *testing.T) {
	// Without usage nothing is learned: the sizes stay as they are estimated.
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { fail(w, http.StatusOK, `{"type":"message"}`) })
	route := anthropicRoute()
	route.Lanes = []plan.Lane{
		{Name: "bulk", MinInputTokens: 20_000, SharePermille: 300, MaxDepth: 10, MaxWaitMillis: 1000},
		{Name: "large", MinInputTokens: 5_000, SharePermille: 300, MaxDepth: 10, MaxWaitMillis: 1000},
		{Name: "default", SharePermille: 400, MaxDepth: 10, MaxWaitMillis: 1000},
	}
	simulate(t, s, onePolicy(route), func(w *world) {
		for _, tokens := range []int{100, 100, 100, 10_000, 10_000, 40_000} {
			w.ask(tokens)
		}
		for i, want := range []uint64{1, 2, 3} {
			if lane := w.figures("anthropic").lanes[i]; lane.Counts().Sent != want {
				t.Errorf("lane %s sent %d, want %d", lane.Name, lane.Counts().Sent, want)
			}
		}
		w.atRest()
	})
}

// A call must start so early that an attempt, as long as they have been, still fits its deadline.
func TestAttemptsTimeIsLeftBeforeTheDeadline(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
		time.Sleep(2 * time.Second)
		answerOK(w)
	})
	requests := plan.Limit{Name: "requests", Budget: plan.Requests, Amount: 20, WindowSeconds: 60, Burst: 1}
	simulate(t, s, onePolicy(anthropicRoute(requests)), func(w *world) {
		w.ask(10)
		// The next call fits in a second; a quarter of its patience is the attempt's.
		a := w.post(anthropicPath, message(10), HeaderDeadline, "1200ms")
		if a.status != http.StatusTooManyRequests || a.took > 50*time.Millisecond || a.header.Get(HeaderReason) != "Deadline" {
			t.Errorf("answer %d after %s: %s", a.status, a.took, a.body)
		}
		if a := w.post(anthropicPath, message(10), HeaderDeadline, "10s"); a.status != http.StatusOK {
			t.Errorf("answer %d: %s", a.status, a.body)
		}
		w.atRest()
	})
}

// Retries that no provider asked for are bounded for the route, not only for the call.
func TestUnguidedRetriesStayWithinTheRoutesBudget(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { throttle(w) })
	simulate(t, s, onePolicy(anthropicRoute()), func(w *world) {
		const calls = 200
		for range calls {
			w.ask(10)
		}
		if n := s.count(); n <= calls || n > calls*3/2 {
			t.Errorf("%d sends of %d calls, which may have three each and a fifth more together", n, calls)
		}
		w.atRest()
	})
}

func TestA7QuotaThatIsBackIsOpenToAll(t *testing.T) {
	s := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			fail(w, http.StatusTooManyRequests, `{"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"x"}}`)
			return
		}
		fail(w, http.StatusOK, `{"object":"chat.completion","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
	})
	simulate(t, s, onePolicy(openaiRoute()), func(w *world) {
		ask := func() int { return w.post("/openai/v1/chat/completions", `{"model":"m","messages":[]}`).status }
		if got := ask(); got != http.StatusTooManyRequests {
			t.Errorf("answer %d", got)
		}
		time.Sleep(probeEvery)
		for range 3 { // the first is the probe
			if got := ask(); got != http.StatusOK {
				t.Errorf("after the probe: answer %d", got)
			}
		}
		w.atRest()
	})
}

// A wait that fits no bucket holds an account until a call succeeds, and no longer.
func TestSuccessEndsAHoldByTime(t *testing.T) {
	s := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			throttle(w, "Retry-After", "5")
			return
		}
		answerOK(w)
	})
	simulate(t, s, onePolicy(anthropicRoute()), func(w *world) {
		if a := w.ask(10); a.status != http.StatusOK || a.took < 5*time.Second {
			t.Errorf("answer %d after %s", a.status, a.took)
		}
		for range 5 {
			if a := w.ask(10); a.took > 10*time.Millisecond {
				t.Errorf("a call waits %s though the account is served", a.took)
			}
		}
		w.atRest()
	})
}
