// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package baseline_test

import (
	"fmt"
	"testing"

	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/simulate/baseline"
	"github.com/headgate-dev/headgate/internal/simulate/result"
	"github.com/headgate-dev/headgate/internal/simulate/workload"
	"github.com/headgate-dev/headgate/internal/simulate/world"
)

// account is the policy of the account most tests use: 4,000 requests and 400,000 input tokens a minute.
func account(more ...plan.Limit) *plan.Policy {
	limits := append([]plan.Limit{
		{Name: "rpm", Budget: plan.Requests, Amount: 4_000, WindowSeconds: 60, Burst: 4_000},
		{Name: "itpm", Budget: plan.InputTokens, Amount: 400_000, WindowSeconds: 60, Burst: 400_000},
	}, more...)
	return &plan.Policy{Name: "test", Routes: []plan.Route{{
		Name: "anthropic", Dialect: "Anthropic", Limits: limits,
		Lanes: []plan.Lane{{Name: plan.DefaultLane, SharePermille: 1000}},
	}}}
}

// file is a workload on the account, of whose provider and streams the test says more.
func file(duration, provider, streams string) string {
	return fmt.Sprintf("kind: Workload\nduration: %s\ninitialLevel: 0%%\nprovider:\n  anthropic:\n    limits: "+
		"[{budget: Requests, amount: 4k, per: Minute}, {budget: InputTokens, amount: 400k, per: Minute}]\n%s\nstreams:\n%s\n",
		duration, provider, streams)
}

func play(t *testing.T, name string, policy *plan.Policy, text string) *result.Result {
	t.Helper()
	wl, err := workload.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	maker, err := baseline.For(name, policy)
	if err != nil {
		t.Fatal(err)
	}
	r, err := world.Run(world.Options{Workload: wl, Policy: policy, Seed: 1, Client: maker})
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range r.Streams {
		sum := s.Succeeded + s.Deferred + s.Unfinished
		for _, m := range []map[string]int{s.Declined, s.Failed} {
			for _, n := range m {
				sum += n
			}
		}
		if sum != s.Offered || s.Offered == 0 {
			t.Errorf("%s: %d calls offered, %d accounted for", name, s.Offered, sum)
		}
	}
	return r
}

const (
	none        = workload.BaselineNone
	exponential = workload.BaselineExponential
	queue       = workload.BaselineNoLanes
)

func TestUnknownNamesAreRefused(t *testing.T) {
	if _, err := baseline.For("other", account()); err == nil {
		t.Error("a baseline of no known name is made")
	}
}

func TestNoneSendsOnceAndFails(t *testing.T) {
	r := play(t, none, account(), file("1m", "", "- {name: s, provider: anthropic, arrivals: {every: 1s}, inputTokens: 60000, sdkRetries: 3}"))
	// 60,000 tokens refill in 9 s: at 9, 18, … 54 s one call finds enough.
	s := r.Streams["s"]
	if s.Succeeded != 6 || s.Failed["429"] != 54 || s.Attempts != 60 || s.Resubmitted != 0 || s.Wait.Max != 0 {
		t.Errorf("%+v", s)
	}
}

func TestExponentialHonoursWhatItIsTold(t *testing.T) {
	r := play(t, exponential, account(), file("1m", "", "- {name: s, provider: anthropic, arrivals: {at: 0s, count: 1}, inputTokens: 60000}"))
	if s := r.Streams["s"]; s.Succeeded != 1 || s.Attempts != 2 || s.Told != 1 || s.Wait.Max != 9 || s.EarliestSendMinusFloor != 0 {
		t.Errorf("%+v", s)
	}
}

func TestExponentialWithoutGuidanceDoublesAndGivesUp(t *testing.T) {
	r := play(t, exponential, account(), file("1m", "    headers: {retryAfter: false}",
		"- {name: s, provider: anthropic, arrivals: {at: 0s, count: 100}, inputTokens: 60000, sdkRetries: 5}"))
	s := r.Streams["s"]
	// 0.5 s and 1 s, of which up to a quarter is taken off, end long before the 9 s that one call needs.
	if s.Failed["429"] != 100 || s.Attempts != 300 || s.Resubmitted != 0 {
		t.Errorf("%+v", s)
	}
	last := 0.0
	for _, series := range r.Series {
		for _, p := range series.Points {
			if series.Of == result.OfThrottled && p.Value > 0 {
				last = p.Seconds
			}
		}
	}
	if last < 1.125 || last > 1.75 {
		t.Errorf("the last refusals are at %v s", last)
	}
}

func TestExponentialIsLeftByTheAppAtItsDeadline(t *testing.T) {
	r := play(t, exponential, account(), file("1m", "", "- {name: s, provider: anthropic, arrivals: {at: 0s, count: 1}, inputTokens: 60000, deadline: 4s}"))
	if s := r.Streams["s"]; s.Failed[world.ReasonLate] != 1 || s.Attempts != 1 {
		t.Errorf("%+v", s)
	}
}

func TestHangingUpIsAFailure(t *testing.T) {
	for _, name := range []string{none, exponential, queue} {
		r := play(t, name, account(), file("1m", "", "- {name: s, provider: anthropic, arrivals: {every: 1s}, inputTokens: 10, disconnectPercent: 100, callTime: 2s}"))
		if s := r.Streams["s"]; s.Failed[world.ReasonHungUp] < 55 || s.Succeeded != 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestQueueIsFirstInFirstOut(t *testing.T) {
	r := play(t, queue, account(), file("1m", "", "- {name: large, provider: anthropic, arrivals: {at: 0s, count: 1}, inputTokens: 60000}\n"+
		"- {name: small, provider: anthropic, arrivals: {at: 1s, count: 2}, inputTokens: 2000}"))
	// From empty the large one goes at 9 s; the small ones, behind it, 0.3 s and 0.6 s later.
	large, small := r.Streams["large"], r.Streams["small"]
	if large.Wait.Max < 9 || large.Wait.Max > 9.001 || small.Wait.P50 < 8.3 || small.Wait.P50 > 8.301 || small.Wait.Max < 8.6 || small.Wait.Max > 8.601 {
		t.Errorf("large waits %+v, small %+v", large.Wait, small.Wait)
	}
	if p := r.Provider["anthropic"]; p.Rejected429 != 0 || p.Sends != 3 {
		t.Errorf("%+v", p)
	}
}

func TestQueueForgetsCallersWhoHaveLeft(t *testing.T) {
	r := play(t, queue, account(), file("1m", "", "- {name: large, provider: anthropic, arrivals: {at: 0s, count: 1}, inputTokens: 60000, deadline: 5s}\n"+
		"- {name: small, provider: anthropic, arrivals: {at: 1s, count: 1}, inputTokens: 2000}"))
	// When the large one's caller leaves at 5 s, the level is far above what the small one needs.
	if s := r.Streams["large"]; s.Failed[world.ReasonLate] != 1 || s.Attempts != 0 {
		t.Errorf("%+v", s)
	}
	if s := r.Streams["small"]; s.Succeeded != 1 || s.Wait.Max != 4 {
		t.Errorf("%+v", s.Wait)
	}
}

func TestQueuePassesRefusalsOnAndTheCallersSDKRetries(t *testing.T) {
	generous := account()
	generous.Routes[0].Limits = nil
	r := play(t, queue, generous, file("1m", "", "- {name: s, provider: anthropic, arrivals: {at: 0s, count: 1}, inputTokens: 60000, sdkRetries: 1}"))
	if s := r.Streams["s"]; s.Succeeded != 1 || s.Attempts != 2 || s.Resubmitted != 1 || s.Wait.Max < 9 {
		t.Errorf("%+v", s)
	}
}

func TestQueueCountsSlotsOutputAndEdits(t *testing.T) {
	slots := account(plan.Limit{Name: "slots", Budget: plan.InFlight, Amount: 2})
	r := play(t, queue, slots, file("1m", "", "- {name: s, provider: anthropic, arrivals: {at: 0s, count: 6}, inputTokens: 1, callTime: 10s}"))
	if s := r.Streams["s"]; s.Succeeded != 6 || s.Wait.Max < 20 || s.Wait.Max > 20.1 {
		t.Errorf("six calls of 10 s on two slots wait %+v", s.Wait)
	}
	output := account(plan.Limit{Name: "otpm", Budget: plan.OutputTokens, Amount: 6_000, WindowSeconds: 60, Burst: 6_000})
	r = play(t, queue, output, file("10m", "", "- {name: s, provider: anthropic, arrivals: {every: 1s}, inputTokens: 1, outputTokens: 200}"))
	if s := r.Streams["s"]; s.Succeeded < 290 || s.Succeeded > 310 {
		t.Errorf("%d calls of 200 tokens in ten minutes of 6,000 each", s.Succeeded)
	}
	edited := file("10m", "", "- {name: s, provider: anthropic, arrivals: {every: 1s}, inputTokens: 20000}") +
		"events: [{at: 5m, edit: {limit: itpm, amount: 40k}}]\n"
	r = play(t, queue, account(), edited)
	// 20 a minute before, 2 a minute afterwards.
	if s := r.Streams["s"]; s.Succeeded < 105 || s.Succeeded > 112 {
		t.Errorf("%d calls around an edit", s.Succeeded)
	}
}

func TestQueueIsDrawn(t *testing.T) {
	r := play(t, queue, account(), file("1m", "", "- {name: s, provider: anthropic, arrivals: {at: 0s, count: 9}, inputTokens: 60000, deadline: 30s}"))
	most := 0.0
	for _, s := range r.Series {
		if s.Of == result.OfQueue && s.Key == "" {
			for _, p := range s.Points {
				most = max(most, p.Value)
			}
			if last := s.Points[len(s.Points)-1].Value; last != 0 {
				t.Errorf("%v wait at the end, when all have left", last)
			}
		}
	}
	if most != 9 {
		t.Errorf("at most %v wait", most)
	}
}
