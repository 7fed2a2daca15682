// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/simulate"
)

const accountOf400k = `---
apiVersion: headgate.dev/v1alpha1
kind: ProviderAccount
metadata: {name: acme}
spec:
  dialect: Anthropic
  limits: [{name: input-tokens, budget: InputTokens, amount: 400k, per: Minute}]
---
apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: default}
spec: {providers: [{name: anthropic, accountRef: {name: acme}}]}
`

// The limits of an account hold as if they were the policy's own, and the result says what was not simulated.
func TestAnAccountsLimitsHoldAsThePolicysOwn(t *testing.T) {
	load := workloadOf("duration: 1m", "initialLevel: 0%", silent,
		"streams: [{name: one, provider: anthropic, arrivals: {at: 0s, count: 1}, inputTokens: 60k}]")
	r := run(t, []byte(accountOf400k), load)
	if one := r.Streams["one"]; one.Succeeded != 1 || one.Wait.Max != 9 {
		t.Errorf("%+v", one)
	}
	if len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "anthropic: account acme is all this policy's here") {
		t.Errorf("notes %q", r.Notes)
	}
	undeclared := strings.Replace(accountOf400k, "limits: [{name: input-tokens, budget: InputTokens, amount: 400k, per: Minute}]", "maxGateways: 4", 1)
	learned := run(t, []byte(undeclared), load)
	if learned.Streams["one"].Attempts < 2 || !strings.HasSuffix(learned.Notes[0], "hold nothing back.") {
		t.Errorf("%d sends: what is still to be learned held the call back until it fitted; notes %q", learned.Streams["one"].Attempts, learned.Notes)
	}
	if own := run(t, policyOf(""), load); len(own.Notes) != 0 {
		t.Errorf("notes of a policy without account: %q", own.Notes)
	}
}

func TestAnAccountThatIsNotInTheFileIsRefused(t *testing.T) {
	_, policy, _ := strings.Cut(accountOf400k, "\n---\n")
	_, err := simulate.Run(simulate.Input{Policy: []byte(policy), Workload: workloadOf("duration: 1m", silent)})
	if !errors.Is(err, simulate.ErrInvalid) || !strings.Contains(err.Error(), "spec.providers[0].accountRef.name") {
		t.Errorf("%v", err)
	}
}
