// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/internal/simulate"
	"github.com/headgate-dev/headgate/internal/simulate/workload"
	_ "github.com/headgate-dev/headgate/internal/testing/seed"
)

// TestA60000TokenCallTakesNineSecondsFromEmpty: 60,000/(400,000/60), to the nanosecond, and no 429.
func TestA60000TokenCallTakesNineSecondsFromEmpty(t *testing.T) {
	r := run(t, policyOf(""), workloadOf("duration: 1m", "initialLevel: 0%", silent,
		"streams: [{name: one, provider: anthropic, arrivals: {at: 0s, count: 1}, inputTokens: 60k}]"))
	one := r.Streams["one"]
	if one.Succeeded != 1 || one.Attempts != 1 || one.Wait.Max != 9 || r.Provider["anthropic"].Rejected429 != 0 {
		t.Errorf("%+v, %+v", one, r.Provider["anthropic"])
	}
}

// TestIngestGoesWithinItsGuarantee: chat that takes all of the refill does not starve a large call in a lane of 40 %:
// the first, from empty, waits just 60,000/(0.4·6,667) s. Without Headgate it goes where chat happens to leave room.
func TestIngestGoesWithinItsGuarantee(t *testing.T) {
	for _, every := range []string{"290ms", "300ms", "320ms"} {
		t.Run(every, func(t *testing.T) {
			r := run(t, policyOf(bulkLane), workloadOf("duration: 10m", "initialLevel: 0%", silent, "baseline: [none]",
				"streams:",
				"- {name: chat, tenant: a, provider: anthropic, arrivals: {every: "+every+"}, inputTokens: 2000, callTime: 2s, deadline: 30s}",
				"- {name: ingest, tenant: b, provider: anthropic, arrivals: {every: 30s}, inputTokens: 60000, callTime: 10s, deadline: 120s}"))
			ingest, chat, p := r.Streams["ingest"], r.Streams["chat"], r.Provider["anthropic"]
			if ingest.Attempts != 20 || ingest.Succeeded < 19 || math.Abs(ingest.Wait.Max-22.5) > 1e-6 {
				t.Errorf("ingest: %+v", ingest)
			}
			if ingest.Lateness.Max > 1e-6 || chat.Lateness.Max > 1e-6 {
				t.Errorf("later than on buckets of their own: ingest by %v s, chat by %v s", ingest.Lateness.Max, chat.Lateness.Max)
			}
			if p.Rejected429 != 0 || p.Budgets["InputTokens"].Utilisation < 0.99 || p.Budgets["InputTokens"].MaxExcess > 1e-6 {
				t.Errorf("the provider saw %+v, %+v", p, p.Budgets["InputTokens"])
			}
			if chat.Decline.Max > 1e-3 || len(chat.Failed) > 0 {
				t.Errorf("chat: %+v", chat)
			}
			if l := p.Lanes["bulk"]; math.Abs(l.LargestSeconds-22.5/0.998) > 1e-6 || l.Share != 0.4 || l.Admitted != 20 {
				t.Errorf("lane bulk: %+v", l)
			}
			if none := r.Baselines["none"].Streams["ingest"]; none.Succeeded > 4 {
				t.Errorf("without Headgate %d large calls succeed", none.Succeeded)
			}
		})
	}
}

// TestNobodyReturnsBeforeTheTimeTold: a herd on an account that others have emptied, whose policy knows nothing of
// that: who is told to wait comes back later than told, and once.
func TestNobodyReturnsBeforeTheTimeTold(t *testing.T) {
	r := run(t, policyOf(""), workloadOf("duration: 3m", telling,
		"streams: [{name: herd, provider: anthropic, arrivals: {at: 30s, count: 100}, inputTokens: 2000, deadline: 60s}]",
		"events: [{at: 0s, until: 30s, outsiders: {provider: anthropic, inputTokensPerSecond: 100k}}]"))
	herd := r.Streams["herd"]
	if herd.Told == 0 || herd.EarliestSendMinusFloor < 0 || herd.Succeeded < 90 {
		t.Errorf("%+v", herd)
	}
	if herd.Attempts > herd.Succeeded+herd.Told {
		t.Errorf("%d sends for %d successes, of which %d were told to wait", herd.Attempts, herd.Succeeded, herd.Told)
	}
}

// everything has each thing that a workload can have.
var everything = workloadOf(
	"duration: 4m", "warmup: 20s", "initialLevel: 50%", telling,
	"gateways: {clockDriftPPM: 100}",
	"streams:",
	"- {name: chat, tenant: a, provider: anthropic, arrivals: {every: 300ms}, inputTokens: 2000, outputTokens: 300, maxTokens: 4096, callTime: 2s, deadline: 30s}",
	"- {name: ingest, tenant: b, provider: anthropic, arrivals: {every: 30s, from: 0s}, inputTokens: 60000, outputTokens: 500, callTime: 10s, deadline: 120s, lane: bulk}",
	"- {name: burst, provider: anthropic, arrivals: {at: 1m, count: 200}, inputTokens: 2000, outputTokens: 100, callTime: 1s, deadline: 60s}",
	"- {name: web, tenant: a, provider: anthropic, arrivals: {poissonPerMinute: 300, from: 10s, to: 3m}, inputTokens: {lognormal: {median: 1500, sigma: 0.8}}, estimateErrorPercent: 10, outputTokens: 200, callTime: {lognormal: {median: 1s, sigma: 0.5}}, streaming: true, disconnectPercent: 5, deadline: 4s, sdkRetries: 2}",
	"events:",
	"- {at: 70s, until: 90s, overload: anthropic}",
	"- {at: 100s, crash: {gateway: 0, every: 5s, until: 110s}}",
	"- {at: 120s, until: 150s, outsiders: {provider: anthropic, inputTokensPerSecond: 2000}}",
	"- {at: 180s, edit: {limit: itpm, amount: 200k}}",
	"baseline: [none, sdk-exponential, gateway-no-lanes]",
)

func encode(t *testing.T, seed uint64) []byte {
	t.Helper()
	r, err := simulate.Run(simulate.Input{Policy: policyOf(bulkLane), Workload: everything, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTheSameSeedGivesTheSameBytes, and another one another result.
func TestTheSameSeedGivesTheSameBytes(t *testing.T) {
	first := encode(t, 7)
	if !bytes.Equal(first, encode(t, 7)) {
		t.Error("two runs with one seed differ")
	}
	if bytes.Equal(first, encode(t, 8)) {
		t.Error("the seed changes nothing")
	}
}

// TestTheArrivalsAreTheSameWhateverStandsBetween: all baselines are offered the same calls.
func TestTheArrivalsAreTheSameWhateverStandsBetween(t *testing.T) {
	r := run(t, policyOf(bulkLane), everything)
	for name, b := range r.Baselines {
		for stream, s := range r.Streams {
			if got := b.Streams[stream].Offered; got != s.Offered || got == 0 {
				t.Errorf("%s is offered %d calls of %s, and Headgate %d", name, got, stream, s.Offered)
			}
		}
		if b.Provider["anthropic"].Lanes != nil {
			t.Errorf("%s is said to have lanes", name)
		}
	}
	if len(r.Baselines) != 3 || r.Gateways.Crashes != 2 {
		t.Errorf("%d baselines, %d crashes", len(r.Baselines), r.Gateways.Crashes)
	}
	if web := r.Streams["web"]; web.Failed["HungUp"] == 0 {
		t.Errorf("nobody hung up: %+v", web)
	}
	if p := r.Provider["anthropic"]; p.Rejected529 == 0 || p.Budgets["InputTokens"].Outsiders == 0 {
		t.Errorf("%+v", p)
	}
}

// TestEveryCallIsInOnePlace: whatever is offered under whatever policy, no call is lost or counted twice.
func TestEveryCallIsInOnePlace(t *testing.T) {
	behaviours := []string{
		"", bulkLane,
		"credentialKey: k\n    deadline: {default: 20s, onExceeded: Defer}\n    throttle: {onCeilingExceeded: Defer, honourCeiling: 5s}",
	}
	rapid.Check(t, func(rt *rapid.T) {
		choose := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(rt, name) }
		wl := workloadOf("duration: 20s", "warmup: "+choose("warmup", "0s", "5s"), "initialLevel: "+choose("level", "0%", "100%"),
			choose("provider", silent, telling),
			"streams:",
			"- {name: a, tenant: t, provider: anthropic, arrivals: {every: "+choose("every", "97ms", "300ms")+"}, inputTokens: {lognormal: {median: 2000, sigma: 1}}, callTime: 900ms, deadline: "+choose("deadline", "500ms", "10s")+", sdkRetries: "+choose("retries", "0", "3")+", streaming: "+choose("streaming", "true", "false")+", disconnectPercent: 10, estimateErrorPercent: 20}",
			"- {name: b, tenant: t, provider: anthropic, arrivals: {at: 6s, count: 30}, inputTokens: 30000}",
			"events:",
			"- {at: "+choose("overload", "1s", "9s")+", until: 10s, overload: anthropic}",
			"- {at: 12s, crash: {gateway: 0, every: 1s, until: 15s}}",
			"- {at: 15s, edit: {limit: itpm, amount: "+choose("amount", "0", "100k", "1M")+"}}",
			"baseline: [none, sdk-exponential, gateway-no-lanes]",
		)
		r, err := simulate.Run(simulate.Input{Policy: policyOf(rapid.SampledFrom(behaviours).Draw(rt, "policy")), Workload: wl, Seed: rapid.Uint64().Draw(rt, "seed")})
		if err != nil {
			rt.Fatal(err)
		}
		conserved(t, r)
		for _, b := range r.Baselines {
			conserved(t, b)
		}
		if t.Failed() {
			rt.Fatal("not conserved")
		}
	})
}

func TestExpectations(t *testing.T) {
	wl := func(expect string) []byte {
		return workloadOf("duration: 10s", silent, "baseline: [none]",
			"streams: [{name: v1.chat, tenant: a, provider: anthropic, arrivals: {every: 1s}, inputTokens: 10}]", "expect: {"+expect+"}")
	}
	r := run(t, policyOf(""), wl(`"streams.v1.chat.succeeded": "== 10", "streams.v1.chat.declined.Deadline": "== 0", "tenants.a.offered": "> 10", `+
		`"provider.anthropic.budgets.InputTokens.used": "<= 100", "baselines.none.streams.v1.chat.attempts": "!= 10", "streams.v1.chat.waitSeconds.p99": "< 0.01"`))
	want := map[string]bool{
		"streams.v1.chat.succeeded == 10": true, "streams.v1.chat.declined.Deadline == 0": true, "tenants.a.offered > 10": false,
		"provider.anthropic.budgets.InputTokens.used <= 100": true, "baselines.none.streams.v1.chat.attempts != 10": false,
		"streams.v1.chat.waitSeconds.p99 < 0.01": true,
	}
	for _, e := range r.Expect {
		if ok, there := want[e.What]; !there || ok != e.OK {
			t.Errorf("%+v", e)
		}
	}
	if len(r.Expect) != len(want) || r.Passed() {
		t.Errorf("%d expectations, passed: %t", len(r.Expect), r.Passed())
	}
	for path, problem := range map[string]string{
		"streams.nobody.succeeded":     `streams has no "nobody.succeeded": it has v1.chat`,
		"streams.v1.chat":              "v1.chat is no number",
		"streams.v1.chat.offered.more": "offered is a number",
		"nothing":                      `the result has no "nothing": it has baselines,`,
		"policy":                       `the result has no "policy"`,
		"streams.v1.chat.declined":     "declined is no number: it has nothing",
	} {
		_, err := simulate.Run(simulate.Input{Policy: policyOf(""), Workload: wl(`"` + path + `": "== 0"`)})
		if !errors.Is(err, workload.ErrInvalid) || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: %v, want %s", path, err, problem)
		}
	}
}

func TestWhatCannotBeSimulated(t *testing.T) {
	good := workloadOf("duration: 10s", silent, "streams: [{name: a, provider: anthropic, arrivals: {every: 1s}, inputTokens: 10}]")
	for name, c := range map[string]struct {
		policy, workload []byte
		want             string
	}{
		"no policy":      {nil, good, "policy: no RateLimitPolicy in it"},
		"another kind":   {[]byte("kind: Pod"), good, "only headgate.dev/v1alpha1, RateLimitPolicy and ProviderAccount are read"},
		"a bad policy":   {[]byte(strings.Replace(string(policyOf("")), "amount: 4k", "amount: -4", 1)), good, "spec.providers[0].limits[0].amount"},
		"two policies":   {append(policyOf(""), []byte("---"+strings.Replace(string(policyOf("")), "name: canonical", "name: other", 1))...), good, "the file holds 2 policies; give one"},
		"no workload":    {policyOf(""), nil, "must be an object of kind Workload"},
		"no such route":  {policyOf(""), bytes.ReplaceAll(good, []byte("anthropic"), []byte("openai")), "provider.openai: the policy has no such provider"},
		"no such lane":   {policyOf(""), bytes.Replace(good, []byte("name: a,"), []byte("name: a, lane: bulk,"), 1), `streams[0].lane: the policy's provider anthropic has no lane "bulk"`},
		"no such limit":  {policyOf(""), append(good, []byte("events: [{at: 1s, edit: {limit: x, amount: 1}}]")...), `events[0].edit.limit: the policy has no limit "x"`},
		"a bad workload": {policyOf(""), []byte("kind: Workload"), "duration: is required"},
	} {
		_, err := simulate.Run(simulate.Input{Policy: c.policy, Workload: c.workload})
		if !errors.Is(err, simulate.ErrInvalid) && !errors.Is(err, workload.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}
