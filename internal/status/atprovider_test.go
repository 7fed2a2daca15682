// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/plan"
)

func TestInEffectIsTheProvidersRateAfterItRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		seen figures.LimitFigures
		want float64
	}{
		"nothing reported":                {figures.LimitFigures{}, 400_000},
		"all of it":                       {figures.LimitFigures{Effective: 1}, 400_000},
		"cut, the provider says no limit": {figures.LimitFigures{Effective: 0.85}, 340_000},
		"cut, of the same limit":          {figures.LimitFigures{Effective: 0.85, ProviderKnown: true, ProviderLimit: 400_000}, 340_000},
		"cut, of a limit far above":       {figures.LimitFigures{Effective: 0.85, ProviderKnown: true, ProviderLimit: 2_000_000}, 400_000},
		"cut, of a lower limit":           {figures.LimitFigures{Effective: 0.5, ProviderKnown: true, ProviderLimit: 300_000}, 150_000},
	} {
		t.Run(name, func(t *testing.T) {
			v := limitView{declared: plan.Limit{Budget: plan.InputTokens, Amount: 400_000, WindowSeconds: 60}, seen: tc.seen}
			if got := v.inEffect(); got != tc.want {
				t.Errorf("%v in effect, want %v", got, tc.want)
			}
		})
	}
	if v := (limitView{declared: plan.Limit{Budget: plan.InFlight, Amount: 8}, seen: figures.LimitFigures{Effective: 0.5}}); v.inEffect() != 8 {
		t.Error("calls in flight have no rate")
	}
}

// Where other namespaces draw on the same account, what they use is no outside traffic.
func TestOtherNamespacesOnAnAccountAreNotBlamed(t *testing.T) {
	seen := figures.LimitFigures{
		ProviderKnown: true, ProviderLimit: 400_000, ProviderRemaining: 2000, OutsidersPerSecond: 2000, Used: figures.NewFlow(5*130_000, figures.Window),
	}
	v := limitView{
		declared: plan.Limit{Name: "input-tokens", Budget: plan.InputTokens, Amount: 400_000, WindowSeconds: 60},
		window:   time.Minute, refused: true, seen: seen,
	}
	if v.elsewhere() == 0 {
		t.Fatal("the case shows nothing")
	}
	if v.account = true; v.elsewhere() != 0 {
		t.Errorf("%v are said to be used elsewhere", v.elsewhere())
	}
}

// Others are blamed only for what cannot have gone through here.
func TestElsewhereIsWhatDidNotGoThroughHere(t *testing.T) {
	minute := func(amount float64) figures.Flow { return figures.NewFlow(5*amount, figures.Window) }
	for name, tc := range map[string]struct {
		seen    figures.LimitFigures
		refused bool
		want    float64
	}{
		"nothing known":                 {figures.LimitFigures{Used: minute(100_000)}, true, 0},
		"refused at a third of it":      {figures.LimitFigures{ProviderKnown: true, ProviderLimit: 400_000, ProviderRemaining: 2000, Used: minute(130_000)}, true, 270_000},
		"refused by our own use":        {figures.LimitFigures{ProviderKnown: true, ProviderLimit: 400_000, ProviderRemaining: 2000, Used: minute(380_000)}, true, 0},
		"by another budget":             {figures.LimitFigures{ProviderKnown: true, ProviderLimit: 400_000, ProviderRemaining: 300_000, Used: minute(90_000)}, true, 0},
		"nothing left, nothing refused": {figures.LimitFigures{ProviderKnown: true, ProviderLimit: 400_000, Used: minute(130_000)}, false, 0},
		"too early to say":              {figures.LimitFigures{ProviderKnown: true, ProviderLimit: 400_000, Used: figures.NewFlow(20_000, 10*time.Second), Offered: figures.NewFlow(20_000, 10*time.Second)}, true, 0},
		"estimated by a gateway":        {figures.LimitFigures{ProviderKnown: true, ProviderLimit: 400_000, ProviderRemaining: 9e4, OutsidersPerSecond: 2000}, false, 120_000},
		"an estimate of noise":          {figures.LimitFigures{ProviderKnown: true, ProviderLimit: 400_000, OutsidersPerSecond: 600}, false, 0},
		"never more than there is":      {figures.LimitFigures{ProviderKnown: true, ProviderLimit: 400_000, OutsidersPerSecond: 1e9}, false, 400_000},
	} {
		t.Run(name, func(t *testing.T) {
			v := limitView{
				declared: plan.Limit{Budget: plan.InputTokens, Amount: 400_000, WindowSeconds: 60}, per: "Minute",
				window: time.Minute, seen: tc.seen, refused: tc.refused,
			}
			if got := v.elsewhere(); got != tc.want {
				t.Errorf("%v elsewhere, want %v", got, tc.want)
			}
			if v.observe = true; v.elsewhere() != 0 {
				t.Error("who only observes paces nobody, and blames nobody")
			}
		})
	}
}

// Calls that wait for the provider alone are throttled by it, also where the policy has no limits and where the
// provider refuses nothing because the gateways wait.
func TestWaitingForTheProviderIsThrottled(t *testing.T) {
	in := exampleInputs()
	quiet(&in)
	in.Figures.Lanes[1].WaitMedian = 4 * time.Second
	if c := Build(in, examplePrevious(), exampleNow).Status.Conditions[4]; c.Status != "False" {
		t.Errorf("without a limit that binds: %s %s", c.Reason, c.Message)
	}
	in.Figures.Limits[0].ProviderBinding = true
	s := Build(in, examplePrevious(), exampleNow).Status
	if c := s.Conditions[4]; c.Reason != v1alpha1.ReasonProviderLimit || !strings.Contains(c.Message, "has 1900k of 2M left, so calls wait for it") {
		t.Errorf("%s %s", c.Reason, c.Message)
	}
	in.Figures.Limits[0].ProviderBinding = false // for a moment
	if c := Build(in, s, exampleNow).Status.Conditions[4]; c.Reason != v1alpha1.ReasonProviderLimit {
		t.Errorf("an empty queue flips it to %s", c.Reason)
	}
	in.Compiled.Routes[0].Limits, in.Figures.Limits = nil, nil
	s = Build(in, examplePrevious(), exampleNow).Status
	if c := s.Conditions[4]; c.Reason != v1alpha1.ReasonProviderLimit || !strings.HasPrefix(s.Summary.NextStep, "Declare limits for anthropic") {
		t.Errorf("without limits: %s; next %s", c.Reason, s.Summary.NextStep)
	}
}

// The event of others on the account says how much they use, and is told once.
func TestOutsideTrafficIsToldOnce(t *testing.T) {
	in := goldenCases["used elsewhere"].inputs()
	first := Build(in, examplePrevious(), exampleNow)
	if len(first.Events) == 0 || first.Events[len(first.Events)-1].Reason != v1alpha1.ReasonOutsideTraffic ||
		!strings.Contains(first.Events[len(first.Events)-1].Message, "about 270k/min of the provider's 400k/min") {
		t.Errorf("events %+v", first.Events)
	}
	if !Due(examplePrevious(), first, exampleNow) {
		t.Error("it is not worth a write")
	}
	for _, e := range Build(in, first.Status, exampleNow.Add(time.Minute)).Events {
		if e.Reason == v1alpha1.ReasonOutsideTraffic {
			t.Error("told again")
		}
	}
}

// Guarantees hold on the rate that is in effect.
func TestGuaranteesFollowTheRateInEffect(t *testing.T) {
	in := exampleInputs()
	in.Figures.Limits[0].Effective, in.Figures.Limits[0].ProviderLimit = 0.5, 400_000
	lane := Build(in, examplePrevious(), exampleNow).Status.Lanes[0]
	if lane.Share != "80k per Minute" || lane.WaitForLargest != "45s" {
		t.Errorf("share %s, wait %s; want 80k per Minute, 45s", lane.Share, lane.WaitForLargest)
	}
}
