// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/simulate"
	"github.com/headgate-dev/headgate/internal/simulate/result"
)

const policy = `apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: canonical, namespace: default}
spec:
  providers:
  - name: anthropic
    baseURL: https://api.anthropic.com
    limits:
    - {name: rpm, budget: Requests, amount: 4k, per: Minute}
    - {name: itpm, budget: InputTokens, amount: 400k, per: Minute}
    lanes:
    - {name: bulk, match: {minInputTokens: 20k}, reservedPercent: 40, largestCall: 60k}
`

const provider = `provider: {anthropic: {limits: [{budget: Requests, amount: 4k, per: Minute}, {budget: InputTokens, amount: 400k, per: Minute}], headers: {remaining: false}}}`

// saturated is 1.5 times the limit, a part of it large calls.
const saturated = `streams:
- {name: chat, tenant: a, provider: anthropic, arrivals: {every: 240ms}, inputTokens: 2000, callTime: 2s, deadline: 30s}
- {name: ingest, tenant: b, provider: anthropic, arrivals: {every: 36s}, inputTokens: 60000, callTime: 10s, deadline: 120s}`

func run(t *testing.T, lines ...string) *result.Result {
	t.Helper()
	workload := "kind: Workload\n" + strings.Join(lines, "\n") + "\n"
	r, err := simulate.Run(simulate.Input{Policy: []byte(policy), Workload: []byte(workload), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	p := r.Provider["anthropic"]
	for name, b := range p.Budgets {
		t.Logf("%s: utilisation %.4f, excess %.1f; %d sends, %d refused; burned %v %v", name, b.Utilisation, b.MaxExcess, p.Sends,
			p.Rejected429, r.Gateways.GrantsBurned, r.Gateways.Burned)
	}
	for name, s := range r.Streams {
		t.Logf("%s: offered %d, succeeded %d, declined %v, failed %v, worst wait %.1f s", name, s.Offered, s.Succeeded, s.Declined, s.Failed, s.Wait.Max)
	}
	return r
}

// kept fails if arrivals ever exceeded burst + (1+ε)·R·length, ε of 1 %, of a minute's amount.
func kept(t *testing.T, r *result.Result) {
	t.Helper()
	p := r.Provider["anthropic"]
	if p.Rejected429 > 0 {
		t.Errorf("%d calls were refused", p.Rejected429)
	}
	if excess := p.Budgets["InputTokens"].MaxExcess; excess > 0.01*400_000 {
		t.Errorf("an interval saw %.0f tokens above burst and refill", excess)
	}
}

// However the calls are spread, the gateways together use as much as one alone.
func TestASkewedFleetUsesAsMuchAsOneGateway(t *testing.T) {
	alone := run(t, "duration: 10m", "warmup: 2m", "initialLevel: 0%", provider, saturated)
	for _, skew := range []string{"[70, 10, 10, 10]", "[25, 25, 25, 25]", "[97, 1, 1, 1]"} {
		t.Run(skew, func(t *testing.T) {
			r := run(t, "duration: 10m", "warmup: 2m", "initialLevel: 0%", provider,
				"gateways: {count: 4, skew: "+skew+", latency: 30ms, jitter: 100ms, clockDriftPPM: 100}", saturated)
			kept(t, r)
			got, want := r.Provider["anthropic"].Budgets["InputTokens"].Utilisation, alone.Provider["anthropic"].Budgets["InputTokens"].Utilisation
			if got < want-0.02 {
				t.Errorf("utilisation %.4f, one alone has %.4f", got, want)
			}
			if got, want := r.Streams["ingest"].Succeeded, alone.Streams["ingest"].Succeeded; got < want {
				t.Errorf("%d large calls went, alone %d", got, want)
			}
		})
	}
}

// The theorem on whole fleets, whatever happens to them.
func TestTheTheoremHoldsOnSimulatedFleets(t *testing.T) {
	for name, events := range map[string]string{
		"steady":     "events: []",
		"scale":      "events: [{at: 2m, scale: 10}, {at: 5m, scale: 2}]",
		"crash loop": "events: [{at: 2m, crash: {gateway: 0, every: 10s, until: 8m}}]",
		"partition":  "events: [{at: 3m, until: 5m, partition: coordinator}]",
		"edit":       "events: [{at: 3m, edit: {limit: itpm, amount: 200k}}]",
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, "duration: 10m", "initialLevel: 0%", provider,
				"gateways: {count: 4, skew: [70, 10, 10, 10], latency: 30ms, jitter: 100ms, clockDriftPPM: 100}", saturated, events)
			kept(t, r)
			if name == "crash loop" && (r.Gateways.Crashes == 0 || r.Gateways.GrantsBurned == 0) {
				t.Errorf("%+v: crashes burn what was held", r.Gateways)
			}
		})
	}
}
