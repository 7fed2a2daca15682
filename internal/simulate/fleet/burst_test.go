// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/simulate"
	"github.com/headgate-dev/headgate/internal/simulate/result"
)

// brief is a limit whose burst is two seconds of its rate, so that what lies in gateways is soon all there is.
const brief = `apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: brief, namespace: default}
spec:
  maxGateways: 20
  providers:
  - name: anthropic
    baseURL: https://api.anthropic.com
    limits:
    - {name: itpm, budget: InputTokens, amount: 1200k, per: Minute, burst: 40k}
    deadline: {default: 8s}
    lanes:
    - {name: bulk, %s, reservedPercent: 40, largestCall: 12k}
`

const (
	bySize   = "match: {minInputTokens: 5000}"
	byHeader = "match: {header: {name: x-kind, value: batch}}"
	lan      = "latency: 5ms, jitter: 10ms"
	// mixed is 1.5 times the limit: 29 calls of 1,000 tokens and one of a quarter of what there is.
	mixed = `streams:
- {name: chat, tenant: a, provider: anthropic, arrivals: {every: 44800us}, inputTokens: 1000, callTime: 20ms, deadline: 8s}
- {name: ingest, tenant: b, provider: anthropic, arrivals: {every: 1300ms}, inputTokens: 10000, callTime: 20ms, deadline: 8s}`
)

func briefly(t *testing.T, lane string, lines ...string) *result.Result {
	t.Helper()
	workload := "kind: Workload\ninitialLevel: 0%\nwarmup: 5s\n" +
		"provider: {anthropic: {limits: [{budget: InputTokens, amount: 1200k, per: Minute, burst: 40k}], headers: {remaining: false}}}\n" +
		strings.Join(lines, "\n") + "\n"
	r, err := simulate.Run(simulate.Input{Policy: fmt.Appendf(nil, brief, lane), Workload: []byte(workload), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	b := r.Provider["anthropic"].Budgets["InputTokens"]
	t.Logf("utilisation %.4f, excess %.1f, refused %d", b.Utilisation, b.MaxExcess, r.Provider["anthropic"].Rejected429)
	for name, s := range r.Streams {
		t.Logf("%s: offered %d, succeeded %d, declined %v, failed %v, worst wait %.1f s", name, s.Offered, s.Succeeded, s.Declined, s.Failed, s.Wait.Max)
	}
	if r.Provider["anthropic"].Rejected429 > 0 || b.MaxExcess > 0.01*1_200_000 {
		t.Errorf("%d calls were refused, an interval saw %.0f tokens too many", r.Provider["anthropic"].Rejected429, b.MaxExcess)
	}
	if b.Utilisation < 0.98 {
		t.Errorf("utilisation %.4f", b.Utilisation)
	}
	return r
}

// However many gateways a short burst is spread over, and whatever happens to them, all of the rate is used: no part of a call
// lies in one that waits for the rest.
func TestAShortBurstIsUsedByManyGateways(t *testing.T) {
	for name, lines := range map[string]string{
		"3":                    "duration: 40s\ngateways: {count: 3, " + lan + "}",
		"10":                   "duration: 40s\ngateways: {count: 10, " + lan + "}",
		"20":                   "duration: 40s\ngateways: {count: 20, " + lan + "}",
		"2→10→2 within 20 s":   "duration: 40s\ngateways: {count: 2, " + lan + "}\nevents: [{at: 10s, scale: 10}, {at: 20s, scale: 2}]",
		"a crash each 5 s":     "duration: 40s\ngateways: {count: 3, " + lan + "}\nevents: [{at: 5s, crash: {gateway: 2, every: 5s, until: 40s}}]",
		"a round trip of 0.2s": "duration: 40s\ngateways: {count: 10, latency: 50ms, jitter: 50ms}",
	} {
		t.Run(name, func(t *testing.T) {
			r := briefly(t, bySize, lines, mixed)
			if s := r.Streams["ingest"]; s.Declined["QueueExpired"]+s.Declined["Deadline"] > 0 || s.Wait.Max > 4 {
				t.Errorf("large calls within their lane's share: %v, worst wait %.1f s", s.Declined, s.Wait.Max)
			}
		})
	}
}

// What a lane was granted and needs no longer the gateway's other lanes use.
func TestALaneThatStopsHoldsNothingBack(t *testing.T) {
	for _, gateways := range []int{2, 10, 20} {
		t.Run(fmt.Sprint(gateways), func(t *testing.T) {
			briefly(t, byHeader, fmt.Sprintf("duration: 40s\ngateways: {count: %d, %s}", gateways, lan), `streams:
- {name: batch, tenant: a, provider: anthropic, lane: bulk, arrivals: {every: 40ms, to: 10s}, inputTokens: 1200, callTime: 20ms, deadline: 5s}
- {name: chat, tenant: b, provider: anthropic, arrivals: {every: 40ms}, inputTokens: 1200, callTime: 20ms, deadline: 8s}`)
		})
	}
}

// Calls that are granted as a whole go as fast as the rate allows also where one gateway makes nearly all of them.
func TestManyMiddlingCallsUseTheRate(t *testing.T) {
	for _, gateways := range []string{"{count: 4, skew: [97, 1, 1, 1], " + lan + "}", "{count: 4, latency: 50ms, jitter: 50ms}", "{count: 20, " + lan + "}"} {
		for _, size := range []int{2500, 4000, 8000} {
			t.Run(fmt.Sprint(size, gateways), func(t *testing.T) {
				briefly(t, bySize, "duration: 30s\ngateways: "+gateways, fmt.Sprintf(`streams:
- {name: chat, tenant: a, provider: anthropic, arrivals: {every: %dms}, inputTokens: %d, callTime: 20ms, deadline: 8s}`, size/30, size))
			})
		}
	}
}
