// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate_test

import (
	"testing"
)

// TestCallsAreDeferred: what does not fit its deadline is taken in and made when there is room, and takes nothing from
// calls whose callers wait.
func TestCallsAreDeferred(t *testing.T) {
	const stream = "streams: [{name: herd, provider: anthropic, arrivals: {at: 0s, count: 100}, inputTokens: 20000, deadline: 40s}, " +
		"{name: chat, provider: anthropic, arrivals: {every: 3s, from: 60s}, inputTokens: 2000, deadline: 10s}]"
	deferring := policyOf("credentialKey: k\n    deadline: {default: 40s, onExceeded: Defer}")
	r := run(t, deferring, workloadOf("duration: 10m", "initialLevel: 0%", silent, stream))
	herd, chat := r.Streams["herd"], r.Streams["chat"]
	if herd.Deferred == 0 || herd.DeferredDone != herd.Deferred || herd.Succeeded+herd.Deferred != 100 {
		t.Errorf("%+v", herd)
	}
	if chat.Succeeded != chat.Offered {
		t.Errorf("deferred calls take from chat: %+v", chat)
	}
	declined := run(t, policyOf("deadline: {default: 40s}"), workloadOf("duration: 10m", "initialLevel: 0%", silent, stream)).Streams["herd"]
	if declined.Deferred != 0 || declined.Declined["Deadline"] != herd.Deferred {
		t.Errorf("declined %+v, deferred %+v", declined, herd)
	}
}

// TestDeferredCallsSurviveACrash, as they do in the gateway's store.
func TestDeferredCallsSurviveACrash(t *testing.T) {
	r := run(t, policyOf("credentialKey: k\n    deadline: {default: 40s, onExceeded: Defer}"), workloadOf("duration: 10m", "initialLevel: 0%", silent,
		"streams: [{name: herd, provider: anthropic, arrivals: {at: 0s, count: 60}, inputTokens: 20000, deadline: 40s}]",
		"events: [{at: 45s, crash: {gateway: 0}}]"))
	if herd := r.Streams["herd"]; herd.Deferred == 0 || herd.DeferredDone != herd.Deferred {
		t.Errorf("%+v", herd)
	}
}

// TestCallsFailOver: a wait above the ceiling is somebody else's business, once, and the second's own budgets count.
func TestCallsFailOver(t *testing.T) {
	policy := policyOf(`credentialKey: first
    throttle: {honourCeiling: 5s, onCeilingExceeded: Failover, failoverTo: second}
  - name: second
    dialect: Anthropic
    baseURL: https://second.example.com
    credentialKey: second
    limits:
    - {name: second, budget: InputTokens, amount: 400k, per: Minute}`)
	r := run(t, policy, workloadOf("duration: 1m",
		"provider: {anthropic: {limits: [{budget: InputTokens, amount: 60k, per: Minute}], headers: {remaining: false}}, second: {}}",
		"streams: [{name: big, provider: anthropic, arrivals: {at: 0s, count: 4}, inputTokens: 50000, callTime: 2s, deadline: 30s}]"))
	big := r.Streams["big"]
	if big.Succeeded != 4 || big.FailedOver != 3 || r.Provider["second"].Sends != 3 || r.Provider["anthropic"].Sends != 4 {
		t.Errorf("%+v, first %+v, second %+v", big, r.Provider["anthropic"], r.Provider["second"])
	}
}

// TestObserveDelaysNobody: the provider sees what it would see without a policy.
func TestObserveDelaysNobody(t *testing.T) {
	policy := append(policyOf(""), []byte("  mode: Observe\n")...)
	r := run(t, policy, workloadOf("duration: 1m", silent, "baseline: [none]",
		"streams: [{name: a, provider: anthropic, arrivals: {every: 100ms}, inputTokens: 3000}]"))
	if a, none := r.Provider["anthropic"], r.Baselines["none"].Provider["anthropic"]; a.Sends != none.Sends || a.Rejected429 != none.Rejected429 || a.Rejected429 == 0 {
		t.Errorf("%+v, without it %+v", a, none)
	}
}

// TestAnEditActsAtOnce, and never refills: after it half as much goes.
func TestAnEditActsAtOnce(t *testing.T) {
	r := run(t, policyOf(""), workloadOf("duration: 10m", "warmup: 5m", "initialLevel: 0%", silent,
		"streams: [{name: a, provider: anthropic, arrivals: {every: 200ms}, inputTokens: 2000, deadline: 30s}]",
		"events: [{at: 5m, edit: {limit: itpm, amount: 200k}}]"))
	if used := r.Provider["anthropic"].Budgets["InputTokens"].Used; used < 990_000 || used > 1_010_000 {
		t.Errorf("%v tokens in five minutes of 200k", used)
	}
}

// TestSDKsHeedWhatTheyAreTold: a refusal of Headgate's is final for an SDK, and a provider's that is passed on is not.
func TestSDKsHeedWhatTheyAreTold(t *testing.T) {
	stream := "streams: [{name: a, provider: anthropic, arrivals: {every: 100ms}, inputTokens: 2000, deadline: 2s, sdkRetries: 2}]"
	r := run(t, policyOf(""), workloadOf("duration: 1m", "initialLevel: 0%", silent, stream, "baseline: [none]"))
	if a := r.Streams["a"]; a.Resubmitted != 0 || a.Declined["Deadline"] == 0 {
		t.Errorf("%+v", a)
	}
	observed := run(t, append(policyOf(""), []byte("  mode: Observe\n")...), workloadOf("duration: 1m", "initialLevel: 0%", silent, stream))
	if a := observed.Streams["a"]; a.Resubmitted == 0 || a.Attempts <= a.Offered {
		t.Errorf("%+v", a)
	}
}

// TestGatewaysThatDivide: four with an equal part each send no more than the account allows, also over crashes, a
// partition and a scale up.
func TestGatewaysThatDivide(t *testing.T) {
	r := run(t, policyOf(""), workloadOf("duration: 5m", "initialLevel: 0%", silent,
		"gateways: {count: 4, sharing: Divided, latency: 30ms}",
		"streams: [{name: a, provider: anthropic, arrivals: {every: 200ms}, inputTokens: 2000, deadline: 30s}]",
		"events: [{at: 2m, crash: {gateway: 1, every: 10s, until: 150s}}, {at: 3m, scale: 8}, {at: 4m, until: 270s, partition: coordinator}]"))
	p := r.Provider["anthropic"]
	if p.Rejected429 != 0 || r.Gateways.Count != 8 || r.Gateways.Crashes != 3 {
		t.Errorf("%+v, %+v", p, r.Gateways)
	}
	if u := p.Budgets["InputTokens"].Utilisation; u < 0.7 {
		t.Errorf("utilisation %v", u)
	}
}

// TestGatewaysThatShareAPool: whatever crashes, is cut off or joins, the provider is never asked for more than the
// account allows, and what crashed gateways held is told.
func TestGatewaysThatShareAPool(t *testing.T) {
	r := run(t, policyOf(""), workloadOf("duration: 6m", "initialLevel: 0%", telling,
		"gateways: {count: 4, skew: [70, 10, 10, 10], latency: 30ms, jitter: 100ms, clockDriftPPM: 100}",
		"streams: [{name: a, provider: anthropic, arrivals: {every: 200ms}, inputTokens: 2000, deadline: 30s}]",
		"events: [{at: 2m, crash: {gateway: 0, every: 10s, until: 150s}}, {at: 3m, scale: 10}, {at: 4m, until: 270s, partition: coordinator}]"))
	p := r.Provider["anthropic"]
	b := p.Budgets["InputTokens"]
	if p.Rejected429 != 0 || b.MaxExcess > 0.01*400_000 || b.Utilisation < 0.9 {
		t.Errorf("%+v, %+v", p, b)
	}
	if g := r.Gateways; g.Count != 10 || g.Crashes != 3 || g.GrantsBurned < 3 || g.Burned["anthropic/itpm"] <= 0 {
		t.Errorf("%+v", g)
	}
	if failed := r.Streams["a"].Failed["GatewayCrashed"]; failed == 0 {
		t.Error("crashes cost no call")
	}
}

// TestDeferralIsBoundedByThePolicy: by calls, by bytes, by age and by attempts, as the policy says.
func TestDeferralIsBoundedByThePolicy(t *testing.T) {
	const herd = "streams: [{name: herd, provider: anthropic, arrivals: {at: 0s, count: 100}, inputTokens: 20000, deadline: 40s}]"
	const limits = "credentialKey: k\n    deadline: {default: 40s, onExceeded: Defer}\n    deferred: "
	for name, c := range map[string]struct {
		bounds, more   string
		deferred, done [2]int
	}{
		// Two of 20,000 tokens go in each 6 seconds: about 13 within the 40 seconds, 87 are deferred.
		"none":     {"{maxAge: 1h}", "", [2]int{80, 90}, [2]int{80, 90}},
		"calls":    {"{maxCalls: 30}", "", [2]int{30, 30}, [2]int{30, 30}},
		"bytes":    {"{maxBytes: 1Mi}", "", [2]int{17, 17}, [2]int{17, 17}}, // a call of 20,000 tokens has 60 kB
		"age":      {"{maxAge: 2m}", "", [2]int{80, 90}, [2]int{25, 45}},    // a minute makes 20
		"attempts": {"{maxAttempts: 2}", "events: [{at: 41s, until: 10m, overload: anthropic}]", [2]int{80, 90}, [2]int{0, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			more := []string{"duration: 10m", "initialLevel: 0%", silent, herd}
			if c.more != "" {
				more = append(more, c.more)
			}
			r := run(t, policyOf(limits+c.bounds), workloadOf(more...))
			s := r.Streams["herd"]
			if s.Deferred < c.deferred[0] || s.Deferred > c.deferred[1] || s.DeferredDone < c.done[0] || s.DeferredDone > c.done[1] {
				t.Errorf("%d deferred, %d made: %+v", s.Deferred, s.DeferredDone, s)
			}
			if sends := r.Provider["anthropic"].Sends; name == "attempts" && sends > 100-s.Deferred+2*s.Deferred {
				t.Errorf("%d sends of 100 calls, of which %d were deferred with two attempts each", sends, s.Deferred)
			}
		})
	}
}
