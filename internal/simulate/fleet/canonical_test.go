// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"testing"

	"github.com/headgate-dev/headgate/internal/simulate/result"
)

// starving takes 1.3 times the limit: chat alone takes all the refill.
const starving = `streams:
- {name: chat, tenant: a, provider: anthropic, arrivals: {every: 300ms}, inputTokens: 2000, outputTokens: 300, maxTokens: 4096, callTime: 2s, deadline: 30s}
- {name: ingest, tenant: b, provider: anthropic, arrivals: {every: 30s}, inputTokens: 60000, outputTokens: 500, callTime: 10s, deadline: 120s, lane: bulk}`

// A large call has its lane's share of the whole account, in whichever gateway it waits: none is declined that the
// account would serve in time, and none waits to expire.
func TestLargeCallsGoFromAnyGateway(t *testing.T) {
	for _, skew := range []string{"[70, 10, 10, 10]", "[1, 1, 1, 1]", "[97, 1, 1, 1]", "[40, 30, 20, 10]"} {
		t.Run(skew, func(t *testing.T) {
			r := run(t, "duration: 10m", "warmup: 1m", "initialLevel: 0%", provider,
				"gateways: {count: 4, skew: "+skew+", latency: 30ms, jitter: 100ms, clockDriftPPM: 100}", starving)
			kept(t, r)
			served(t, r)
		})
	}
}

func served(t *testing.T, r *result.Result) {
	t.Helper()
	ingest, chat := r.Streams["ingest"], r.Streams["chat"]
	if ingest.Succeeded+ingest.Unfinished < ingest.Offered {
		t.Errorf("ingest: declined %v, failed %v", ingest.Declined, ingest.Failed)
	}
	// cost/(r·R) and a report interval, with the guard of the pool, messages and what waits before it.
	if ingest.Lateness.Max > 2 {
		t.Errorf("ingest: later than on a bucket of its own by %.1f s", ingest.Lateness.Max)
	}
	t.Logf("chat: told after %+v", chat.Decline)
	if chat.Decline.P50 > 0.001 {
		t.Errorf("chat was told after %+v", chat.Decline)
	}
	if n := chat.Declined["QueueExpired"]; n > 0 || len(chat.Failed) > 0 {
		t.Errorf("chat: %d waited to expire, failed %v", n, chat.Failed)
	}
	if used := r.Provider["anthropic"].Budgets["InputTokens"].Utilisation; used < 0.98 {
		t.Errorf("utilisation %.4f", used)
	}
}
