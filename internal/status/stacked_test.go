// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/wire"
)

// Each SDK has its setting, in the provider's message, in the next step of a policy that lacks nothing else, and in
// one Event.
func TestTheSecondOwnerOfRetriesIsNamedWithItsSetting(t *testing.T) {
	settings := map[string]string{
		"openai-python": "max_retries=0", "anthropic-python": "max_retries=0", "stainless-python": "max_retries=0",
		"openai-node": "maxRetries: 0", "anthropic-node": "maxRetries: 0", "stainless-node": "maxRetries: 0",
		"openai-go": "option.WithMaxRetries(0)", "anthropic-go": "option.WithMaxRetries(0)", "stainless-go": "option.WithMaxRetries(0)",
		"aws": "AWS_MAX_ATTEMPTS=1", wire.SDKOther: "turn its retries off",
	}
	for _, sdk := range wire.SDKs {
		t.Run(sdk, func(t *testing.T) {
			in := exampleInputs()
			quiet(&in)
			in.Pods = in.Pods[1:2] // ingest-0, which nothing is wrong with
			in.Figures.Providers[0].StackedRetries, in.Figures.Providers[0].StackedMostlyBy = 400, sdk
			want := settings[sdk]
			if want == "" {
				t.Fatal("no setting is known")
			}
			first := Build(in, v1alpha1.RateLimitPolicyStatus{}, exampleNow)
			if got := first.Status.Providers[0].Message; !strings.Contains(got, want) {
				t.Errorf("the message says %q, want %q", got, want)
			}
			if got := first.Status.Summary.NextStep; !strings.Contains(got, want) {
				t.Errorf("the next step is %q, want %q", got, want)
			}
			if n := eventsOf(first.Events, v1alpha1.EventStackedRetries); n != 1 {
				t.Errorf("%d events", n)
			}
			in.Raised = first.Raised
			in.Figures.Providers[0].StackedRetries += 7
			second := Build(in, first.Status, exampleNow.Add(time.Minute))
			if n := eventsOf(second.Events, v1alpha1.EventStackedRetries); n != 0 {
				t.Errorf("%d events of what was told", n)
			}
			if second.Status.Providers[0].Message != first.Status.Providers[0].Message {
				t.Error("the message changes with every count")
			}
		})
	}
}

func eventsOf(events []Event, reason string) (n int) {
	for _, e := range events {
		if e.Reason == reason {
			n++
		}
	}
	return n
}

// The provider's own code is said once, whether or not its words hold it, and the time has its day.
func TestQuotaIsSaidInTheProvidersOwnWords(t *testing.T) {
	for message, want := range map[string]string{
		"You exceeded your current quota.":    "insufficient_quota: You exceeded your current quota.",
		"insufficient_quota: pay your bills.": "insufficient_quota: pay your bills.",
		"":                                    "insufficient_quota",
	} {
		in := exampleInputs()
		quiet(&in)
		p := &in.Figures.Providers[0]
		p.State, p.StateCode, p.StateMessage, p.QuotaResetAt = "QuotaExhausted", "insufficient_quota", message, exampleNow.Add(30*time.Hour)
		got := Build(in, examplePrevious(), exampleNow).Status
		if got.Providers[0].Message != want {
			t.Errorf("the message is %q, want %q", got.Providers[0].Message, want)
		}
		if c := find(got.Conditions, v1alpha1.ConditionThrottled); c.Reason != v1alpha1.ReasonQuotaExhausted || !strings.Contains(c.Message, strings.TrimRight(want, ".")) {
			t.Errorf("Throttled says %s %q", c.Reason, c.Message)
		}
		if !strings.Contains(got.Summary.NextStep, "2026-12-04 20:22 UTC") {
			t.Errorf("the next step is %q", got.Summary.NextStep)
		}
		p.QuotaResetAt = time.Time{}
		if got := Build(in, examplePrevious(), exampleNow).Status.Summary.NextStep; !strings.Contains(got, "One call a minute tries") {
			t.Errorf("without a reset the next step is %q", got)
		}
	}
}
