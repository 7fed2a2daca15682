// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"

	"github.com/headgate-dev/headgate/internal/plan"
)

// TestGuaranteesSayWhereOutputWaitsToo: the time of the input alone is no bound where a limit counts output.
func TestGuaranteesSayWhereOutputWaitsToo(t *testing.T) {
	of := func(name, budget string, amount, window int64) plan.Limit {
		return plan.Limit{Name: name, Budget: budget, Amount: amount, Burst: amount, WindowSeconds: window}
	}
	input := of("itpm", plan.InputTokens, 400_000, 60)
	const bare = "bulk: 160k/min of itpm, a call of 60k within 22.5s"
	for name, tc := range map[string]struct {
		limits []plan.Limit
		want   string
	}{
		"input alone":       {[]plan.Limit{input}, bare},
		"output":            {[]plan.Limit{input, of("otpm", plan.OutputTokens, 10_000, 60)}, "bulk: 160k/min of itpm, 4k/min of otpm, a call of 60k within 22.5s plus what its output takes of otpm"},
		"both together":     {[]plan.Limit{of("tpm", plan.Tokens, 400_000, 60)}, "bulk: 160k/min of tpm, a call of 60k within 22.5s plus what its output takes of tpm"},
		"an output's cap":   {[]plan.Limit{input, of("day", plan.OutputTokens, 100_000, 86400)}, "bulk: 160k/min of itpm, 40k/day of day, a call of 60k within 22.5s"},
		"of another's call": {[]plan.Limit{input, {Name: "opus", Budget: plan.OutputTokens, Amount: 10, Burst: 10, WindowSeconds: 60, Models: []string{"*opus*"}}}, bare},
	} {
		t.Run(name, func(t *testing.T) {
			lane := plan.Lane{Name: "bulk", SharePermille: 400, LargestCallTokens: 60_000}
			if got := Guarantee(&plan.Route{Limits: tc.limits, Lanes: []plan.Lane{lane}}, &lane); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
