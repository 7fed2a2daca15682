// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/simulate"
	"github.com/headgate-dev/headgate/internal/simulate/result"
)

// canonical is the policy of the canonical account, with a lane for large calls; %s are further fields of the provider.
const canonical = `
apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: canonical}
spec:
  providers:
  - name: anthropic
    limits:
    - {name: rpm, budget: Requests, amount: 4k, per: Minute}
    - {name: itpm, budget: InputTokens, amount: 400k, per: Minute}
    %s
`

const bulkLane = `lanes: [{name: bulk, reservedPercent: 40, largestCall: 60k, match: {minInputTokens: 20k}, queue: {maxDepth: 6, maxWait: 60s}}]`

// silent is the canonical provider as one that tells nothing but Retry-After, so that the policy's own limits are all
// that holds a call back.
const silent = `provider: {anthropic: {limits: [{budget: Requests, amount: 4k, per: Minute}, {budget: InputTokens, amount: 400k, per: Minute}], headers: {remaining: false}}}`

// telling is the same with headers, a network and a clock that is ahead.
const telling = `provider: {anthropic: {limits: [{budget: Requests, amount: 4k, per: Minute}, {budget: InputTokens, amount: 400k, per: Minute}], headers: {remaining: true, roundTo: 1000}, clockSkew: 4s, latency: 30ms, jitter: 10ms}}`

func policyOf(fields string) []byte { return fmt.Appendf(nil, canonical, fields) }

func workloadOf(lines ...string) []byte {
	return []byte("kind: Workload\n" + strings.Join(lines, "\n") + "\n")
}

func run(t *testing.T, policy, workload []byte) *result.Result {
	t.Helper()
	r, err := simulate.Run(simulate.Input{Policy: policy, Workload: workload, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	conserved(t, r)
	for name, b := range r.Baselines {
		if conserved(t, b); b.Streams == nil {
			t.Errorf("baseline %s is empty", name)
		}
	}
	return r
}

// conserved fails unless every call is in one place.
func conserved(t *testing.T, r *result.Result) {
	t.Helper()
	check := func(what string, c *result.Counts) {
		sum := c.Succeeded + c.Deferred + c.Unfinished
		for _, n := range c.Declined {
			sum += n
		}
		for _, n := range c.Failed {
			sum += n
		}
		if sum != c.Offered || c.Unfinished < 0 {
			t.Errorf("%s: of %d calls %d are accounted for: %+v", what, c.Offered, sum, c)
		}
	}
	for name, s := range r.Streams {
		check("stream "+name, &s.Counts)
		waits := 0
		for _, b := range s.Waits {
			waits += b.Count
		}
		if waits > s.Offered {
			t.Errorf("stream %s has %d waits of %d calls", name, waits, s.Offered)
		}
	}
	for name, tenant := range r.Tenants {
		check("tenant "+name, &tenant.Counts)
	}
	for _, s := range r.Series {
		if len(s.Points) > result.MaxPoints {
			t.Errorf("a curve of %d points", len(s.Points))
		}
	}
}
