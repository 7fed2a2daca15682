// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate_test

import "testing"

// TestNoCallBeginsTooLateForItsDeadlineAfterRefusals: they come at once, and what an attempt needs is not learned from
// them.
func TestNoCallBeginsTooLateForItsDeadlineAfterRefusals(t *testing.T) {
	r := run(t, policyOf(""), workloadOf("duration: 5m", "initialLevel: 0%", silent,
		"streams: [{name: a, provider: anthropic, arrivals: {every: 200ms}, inputTokens: 2000, callTime: 8s, deadline: 40s}]",
		"events:",
		"- {at: 2m, until: 121s, outsiders: {provider: anthropic, inputTokensPerSecond: 100k}}",
		"- {at: 150s, until: 151s, outsiders: {provider: anthropic, inputTokensPerSecond: 100k}}",
		"- {at: 3m, until: 181s, outsiders: {provider: anthropic, inputTokensPerSecond: 100k}}"))
	if a := r.Streams["a"]; a.TooLate > 0 || a.Told < 3 || a.Succeeded < 500 {
		t.Errorf("%+v", a)
	}
}

// TestWhatCannotWaitForAnOverloadsEndIsDeferred where the policy defers what cannot be made in time.
func TestWhatCannotWaitForAnOverloadsEndIsDeferred(t *testing.T) {
	workload := workloadOf("duration: 5m", silent,
		"streams: [{name: a, provider: anthropic, arrivals: {every: 1s, to: 2m}, inputTokens: 200, callTime: 100ms, deadline: 500ms}]",
		"events: [{at: 10s, until: 1m, overload: anthropic}]")
	declined := run(t, policyOf("deadline: {default: 500ms}"), workload).Streams["a"]
	a := run(t, policyOf("credentialKey: k\n    deadline: {default: 500ms, onExceeded: Defer}"), workload).Streams["a"]
	if declined.Declined["Overloaded"] == 0 || a.Declined["Overloaded"] != 0 || a.Deferred == 0 || a.DeferredDone != a.Deferred {
		t.Errorf("deferred %+v, declined %+v", a, declined)
	}
}
