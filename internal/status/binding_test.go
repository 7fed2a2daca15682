// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/wire"
)

// watched puts what pods offer each second through a store and returns the view of the one limit, of 240k
// input tokens a minute with a burst of 240k.
func watched(t *testing.T, change func(l *plan.Limit), seconds int, offered func(pod string, second int) float64, pods ...string) limitView {
	t.Helper()
	store, now := figures.NewStore(), exampleNow
	totals := map[string]float64{}
	for second := range seconds + 1 {
		for _, pod := range pods {
			if second > 0 {
				totals[pod] += offered(pod, second)
			}
			store.Observe(figures.Pod{Namespace: "n", Name: pod, UID: pod}, 1, &wire.Report{
				Sequence: uint64(second + 1), UptimeMillis: uint64(second*1000 + 1),
				Routes: []*wire.RouteReport{{Policy: "p", Provider: "anthropic", Limits: []*wire.LimitReport{
					{Name: "input-tokens", Offered: totals[pod], Spent: min(totals[pod], float64(4000*second/len(pods))), Binding: true},
				}}},
			}, now)
		}
		now = now.Add(time.Second)
	}
	f, _ := store.Policy("n", "p", now.Add(-time.Second))
	limit := plan.Limit{Name: "input-tokens", Budget: plan.InputTokens, Amount: 240_000, WindowSeconds: 60, Burst: 240_000}
	if change != nil {
		change(&limit)
	}
	route := plan.Route{Name: "anthropic", Dialect: "Anthropic", Limits: []plan.Limit{limit}, Lanes: []plan.Lane{{Name: "default"}}}
	views := lookup(Inputs{Figures: f, Compiled: &plan.Policy{Routes: []plan.Route{route}}})
	return views[0].limits[0]
}

// What is said of a limit that holds calls back is true and helps, however it does it: never is less offered
// than allowed without a reason that explains it, and never is raising the amount advised where that changes
// nothing.
func TestALimitThatBindsIsExplained(t *testing.T) {
	steady := func(each float64) func(string, int) float64 {
		return func(string, int) float64 { return each }
	}
	for name, tc := range map[string]struct {
		change        func(l *plan.Limit)
		seconds       int
		offered       func(pod string, second int) float64
		pods          []string
		holds, relief string
	}{
		"the first minute of a run, two pods alike": {
			nil, 60, steady(3000),
			[]string{"a", "b"},
			"anthropic/input-tokens: 360k/min offered, this policy allows 240k/min.",
			"Raise anthropic/input-tokens to 360k or more, or cut load.",
		},
		"its first twenty seconds": {
			nil, 20, steady(3000),
			[]string{"a", "b"},
			"anthropic/input-tokens: 120k offered in 20s, this policy allows 240k/min.",
			"Raise anthropic/input-tokens to 360k or more, or cut load.",
		},
		"a minute of load in five": {
			nil, 300, func(_ string, s int) float64 { return map[bool]float64{true: 3000}[s <= 60] },
			[]string{"a", "b"},
			"anthropic/input-tokens: 72k/min offered on average and 354k/min at its busiest, this policy allows 240k/min.",
			"Raise anthropic/input-tokens to 360k or more, or cut load.",
		},
		"as much as it allows": {
			nil, 120, steady(1985),
			[]string{"a", "b"},
			"anthropic/input-tokens: 238k/min offered, nearly all of the 240k/min this policy allows, so calls wait for each other.",
			"Raise anthropic/input-tokens above 240k/min, or cut load.",
		},
		"bursts of two seconds a minute": {
			func(l *plan.Limit) { l.Burst = 40_000 }, 240, func(_ string, s int) float64 { return map[bool]float64{true: 40_000}[s%60 < 2] },
			[]string{"a"},
			"anthropic/input-tokens: 80k/min offered, below the 240k/min this policy allows, but in short bursts above the 40k it holds at once.",
			"Raise the burst of anthropic/input-tokens above 40k, or spread the calls over time.",
		},
		"a day's allowance": {
			func(l *plan.Limit) { l.WindowSeconds = 86_400 }, 60, steady(100),
			[]string{"a", "b"},
			"anthropic/input-tokens: the 240k/day that this policy allows is used up.",
			"Raise anthropic/input-tokens above 240k/day, or cut load.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := watched(t, tc.change, tc.seconds, tc.offered, tc.pods...)
			if got := l.holding(); got != tc.holds {
				t.Errorf("got  %s\nwant %s", got, tc.holds)
			}
			if got := l.relief("anthropic"); got != tc.relief {
				t.Errorf("got  %s\nwant %s", got, tc.relief)
			}
		})
	}
}

// A pod is named as the one to cut only where it clearly stands out.
func TestOnlyAPodThatStandsOutIsNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		gateways int
		fraction float64
		named    bool
	}{
		"half of two":        {2, 0.5, false},
		"somewhat more":      {2, 0.6, false},
		"nearly all of two":  {2, 0.8, true},
		"the only one":       {1, 1, false},
		"a third of three":   {3, 0.34, false},
		"40 % of eleven":     {11, 0.4, true},
		"2 % of a hundred":   {100, 0.02, false},
		"12 % of a hundred":  {100, 0.12, true},
		"gone, of a new one": {0, 0.9, false},
	} {
		l := limitView{gateways: tc.gateways, seen: figures.LimitFigures{UsedBy: []figures.PodShare{{Pod: "pod-0", Fraction: tc.fraction}}}}
		if got := strings.Contains(l.cut(), "pod-0"); got != tc.named {
			t.Errorf("%s: %q", name, l.cut())
		}
	}
}

// A wait of a millisecond is no throttling, whatever bucket a call is waiting for at the moment.
func TestThrottledNeedsANoticeableWaitOrARefusal(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(l *figures.LaneFigures)
		want   string
		says   string
	}{
		"a millisecond":     {func(l *figures.LaneFigures) { l.WaitMedian = time.Millisecond }, "False", ""},
		"99 ms":             {func(l *figures.LaneFigures) { l.WaitMedian = 99 * time.Millisecond }, "False", ""},
		"100 ms":            {func(l *figures.LaneFigures) { l.WaitMedian = 100 * time.Millisecond }, "True", "Calls wait 100ms; the provider refuses nothing."},
		"one that is stuck": {func(l *figures.LaneFigures) { l.Queued, l.QueuedOldest = 1, 3*time.Second }, "True", "The oldest call in a queue has waited 3s; the provider refuses nothing."},
		"a queue's moment":  {func(l *figures.LaneFigures) { l.Queued, l.QueuedOldest = 1, 900*time.Millisecond }, "False", ""},
		"refusals": {func(l *figures.LaneFigures) {
			l.WaitMedian, l.Refused, l.RefusedBy = time.Millisecond, 68, map[string]int64{"Deadline": 68}
		}, "True", "10.0% of calls are refused; the provider refuses nothing."},
		"a call too large for any limit": {func(l *figures.LaneFigures) {
			l.Refused, l.RefusedBy = 3, map[string]int64{"TooLarge": 3}
		}, "False", ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := exampleInputs()
			quiet(&in)
			in.Figures.Limits[0].Binding = true
			in.Figures.Lanes[0].WaitMedian, in.Figures.Lanes[1].WaitMedian = 0, 0
			tc.change(&in.Figures.Lanes[1])
			previous := examplePrevious()
			previous.Conditions[4].Status, previous.Conditions[4].Reason = "False", "NotThrottled"
			got := Build(in, previous, exampleNow)
			if c := got.Status.Conditions[4]; string(c.Status) != tc.want {
				t.Errorf("Throttled is %s: %s", c.Status, c.Message)
			}
			note := ""
			for _, e := range got.Events {
				if e.Reason == "PolicyLimit" {
					note = e.Message
				}
			}
			if (note != "") != (tc.says != "") || !strings.Contains(note, tc.says) {
				t.Errorf("told %q, want %q", note, tc.says)
			}
		})
	}
}

// Whatever was seen: an amount is advised only where it exceeds the present one, and what is said to be offered
// exceeds what is allowed wherever the two are merely set against each other.
func TestAdviceFollowsFromWhatIsOffered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		over := time.Duration(rapid.Int64Range(1, 300).Draw(t, "seconds")) * time.Second
		l := limitView{
			name: "p/l", per: "Minute", window: time.Minute, gateways: rapid.IntRange(0, 20).Draw(t, "gateways"),
			declared: plan.Limit{
				Budget: plan.InputTokens, WindowSeconds: 60,
				Amount: rapid.Int64Range(1, 1e9).Draw(t, "amount"), Burst: rapid.Int64Range(1, 1e9).Draw(t, "burst"),
			},
			seen: figures.LimitFigures{
				Offered: figures.NewFlow(rapid.Float64Range(0, 1e10).Draw(t, "offered"), over),
				UsedBy:  []figures.PodShare{{Pod: "pod-0", Fraction: rapid.Float64Range(0, 1).Draw(t, "fraction")}},
			},
		}
		l.offered = l.seen.Offered.Per(l.window)
		l.used = min(l.offered, float64(l.declared.Amount))
		allowed, how := float64(l.declared.Amount), l.bindsBy()
		if how == byAmount && l.rate() <= allowed {
			t.Fatalf("%s", l.holding())
		}
		if how != byAmount && strings.Contains(l.relief("p"), " or more") && how != byPeak {
			t.Fatalf("%s %s", l.holding(), l.relief("p"))
		}
		if how == byAmount || how == byPeak {
			if needed := value(v1alpha1.Amount(l.needed(how))); needed <= allowed*0.999 {
				t.Fatalf("raise %v to %v", allowed, needed)
			}
		}
	})
}

// A wait about the threshold flips nothing, and tells nothing again.
func TestAWaitAboutTheThresholdDoesNotFlip(t *testing.T) {
	_, events := simulate(time.Hour, func(at time.Duration) Inputs {
		in := exampleInputs()
		quiet(&in)
		in.Figures.Limits[0].Binding = true
		in.Figures.Lanes[1].WaitMedian = 120 * time.Millisecond
		if at/time.Minute%2 == 1 {
			in.Figures.Lanes[1].WaitMedian = 80 * time.Millisecond
		}
		return in
	})
	told := 0
	for _, e := range events {
		if e.Reason == "PolicyLimit" {
			told++
		}
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}
