// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/simulate/workload"
)

// whole is a file with every field there is.
const whole = `
kind: Workload
name: all
duration: 10m
warmup: 1m
initialLevel: 0%
gateways: {count: 4, skew: [70, 10, 10, 10], latency: 30ms, jitter: 100ms, clockDriftPPM: 100, sharing: Divided}
provider:
  anthropic:
    limits:
    - {budget: Requests, amount: 4k, per: Minute}
    - {budget: InputTokens, amount: 400k, per: Minute, burst: 500k, shape: Continuous}
    - {budget: InputTokens, amount: 10M, per: Day, shape: Fixed}
    - {budget: InFlight, amount: 50}
    charges: EstimateThenActual
    chargesRejected: false
    headers: {remaining: true, roundTo: 1000, retryAfter: true, missingPercent: 5}
    clockSkew: 4s
    latency: 30ms
    jitter: 5ms
streams:
- {name: chat, tenant: a, provider: anthropic, model: m, path: /v1/messages, header: {x-team: a}, arrivals: {every: 300ms}, inputTokens: 2000, outputTokens: 300, maxTokens: 4096, callTime: 2s, deadline: 30s}
- {name: burst, provider: anthropic, arrivals: {at: 0s, count: 400}, inputTokens: {constant: 2k}, callTime: {constant: 1s}, lane: bulk}
- {name: web, provider: anthropic, arrivals: {poissonPerMinute: 300, from: 1m, to: 5m}, inputTokens: {lognormal: {median: 1500, sigma: 0.8}}, estimateErrorPercent: 10, outputTokens: 200, callTime: {lognormal: {median: 1s, sigma: 0.5}}, streaming: true, disconnectPercent: 2, deadline: 4s, sdkRetries: 2}
events:
- {at: 3m, until: 4m, overload: anthropic}
- {at: 5m, scale: 10}
- {at: 6m, crash: {gateway: 0, every: 10s, until: 7m}}
- {at: 7m, until: 8m, partition: coordinator}
- {at: 8m, outsiders: {provider: anthropic, inputTokensPerSecond: 2000}, until: 9m}
- {at: 9m, edit: {limit: itpm, amount: 200k}}
baseline: [none, sdk-exponential, gateway-no-lanes]
expect: {"streams.ingest.succeeded": ">= 15", "provider.anthropic.rejected429": "== 0"}
`

func TestEveryFieldIsRead(t *testing.T) {
	got, err := workload.Parse([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	no := false
	end := 10 * time.Minute
	want := &workload.Workload{
		Name: "all", Duration: end, Warmup: time.Minute,
		Gateways: workload.Gateways{
			Count: 4, Skew: []float64{70, 10, 10, 10}, Latency: 30 * time.Millisecond, Jitter: 100 * time.Millisecond,
			ClockDriftPPM: 100, Sharing: workload.Divided,
		},
		Providers: []workload.Provider{{
			Route: "anthropic",
			Limits: []workload.Limit{
				{Name: "Requests", Budget: "Requests", Amount: 4000, Window: time.Minute, Burst: 4000, Shape: workload.Continuous},
				{Name: "InputTokens/Minute", Budget: "InputTokens", Amount: 400_000, Window: time.Minute, Burst: 500_000, Shape: workload.Continuous},
				{Name: "InputTokens/Day", Budget: "InputTokens", Amount: 1e7, Window: 24 * time.Hour, Burst: 1e7, Shape: workload.Fixed},
				{Name: "InFlight", Budget: "InFlight", Amount: 50, Burst: 50, Shape: workload.Continuous},
			},
			Charges: "EstimateThenActual", ChargesRejected: &no,
			Headers:   workload.Headers{Remaining: true, RoundTo: 1000, RetryAfter: true, MissingPercent: 5},
			ClockSkew: 4 * time.Second, Latency: 30 * time.Millisecond, Jitter: 5 * time.Millisecond,
		}},
		Streams: []workload.Stream{
			{
				Name: "chat", Tenant: "a", Route: "anthropic", Model: "m", Path: "/v1/messages", Header: map[string]string{"x-team": "a"},
				Arrivals:    workload.Arrivals{Every: 300 * time.Millisecond, To: end},
				InputTokens: workload.Distribution{Median: 2000}, OutputTokens: workload.Distribution{Median: 300}, MaxTokens: 4096,
				CallTime: workload.Distribution{Median: 2}, Deadline: 30 * time.Second,
			},
			{
				Name: "burst", Route: "anthropic", Model: "model", Path: "/", Lane: "bulk", Arrivals: workload.Arrivals{Count: 400},
				InputTokens: workload.Distribution{Median: 2000}, CallTime: workload.Distribution{Median: 1},
			},
			{
				Name: "web", Route: "anthropic", Model: "model", Path: "/",
				Arrivals:    workload.Arrivals{PerMinute: 300, From: time.Minute, To: 5 * time.Minute},
				InputTokens: workload.Distribution{Median: 1500, Sigma: 0.8}, OutputTokens: workload.Distribution{Median: 200},
				CallTime: workload.Distribution{Median: 1, Sigma: 0.5}, Deadline: 4 * time.Second, Streaming: true,
				DisconnectPercent: 2, EstimateErrorPercent: 10, SDKRetries: 2,
			},
		},
		Events: []workload.Event{
			{At: 3 * time.Minute, Until: 4 * time.Minute, Overload: "anthropic"},
			{At: 5 * time.Minute, Until: end, Scale: 10},
			{At: 6 * time.Minute, Until: end, Crash: &workload.Crash{Every: 10 * time.Second, Until: 7 * time.Minute}},
			{At: 7 * time.Minute, Until: 8 * time.Minute, Partition: true},
			{At: 8 * time.Minute, Until: 9 * time.Minute, Outsiders: &workload.Outsiders{Route: "anthropic", InputTokensPerSecond: 2000}},
			{At: 9 * time.Minute, Until: end, Edit: &workload.Edit{Limit: "itpm", Amount: 200_000}},
		},
		Baselines: []string{"none", "sdk-exponential", "gateway-no-lanes"},
		Expect: []workload.Expectation{
			{Path: "provider.anthropic.rejected429", Operator: "==", Value: 0},
			{Path: "streams.ingest.succeeded", Operator: ">=", Value: 15},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// smallest is a file that leaves out all that can be.
const smallest = `{kind: Workload, duration: 1m, provider: {p: {}}, streams: [{name: s, provider: p, arrivals: {every: 1s}, inputTokens: 1}]}`

func TestDefaults(t *testing.T) {
	w, err := workload.Parse([]byte(smallest))
	if err != nil {
		t.Fatal(err)
	}
	want := &workload.Workload{
		Duration: time.Minute, InitialLevel: 1, Gateways: workload.Gateways{Count: 1, Sharing: workload.Pool},
		Providers: []workload.Provider{{Route: "p", Headers: workload.Headers{Remaining: true, RoundTo: 1, RetryAfter: true}}},
		Streams: []workload.Stream{{
			Name: "s", Route: "p", Model: "model", Path: "/", Arrivals: workload.Arrivals{Every: time.Second, To: time.Minute},
			InputTokens: workload.Distribution{Median: 1}, CallTime: workload.Distribution{Median: 1},
		}},
	}
	if diff := cmp.Diff(want, w); diff != "" {
		t.Error(diff)
	}
}

// TestBadInput changes one thing in the file that has everything, and wants the path and what is wrong there.
func TestBadInput(t *testing.T) {
	for name, c := range map[string]struct{ old, changed, want string }{
		"another kind":         {"kind: Workload", "kind: Pod", `kind: must be Workload, not "Pod"`},
		"no kind":              {"kind: Workload", "", "kind: is required"},
		"no duration":          {"duration: 10m", "", "duration: is required"},
		"a bare number":        {"duration: 10m", "duration: 10", "duration: must be a duration such as 300ms or 10m, not 10"},
		"too long":             {"duration: 10m", "duration: 100h", "duration: must be between 1s and 24h0m0s, not 100h0m0s"},
		"all warmup":           {"warmup: 1m", "warmup: 10m", "warmup: must be shorter than the duration of 10m0s"},
		"no percentage":        {"initialLevel: 0%", "initialLevel: half", `initialLevel: must be a percentage such as 50%, not "half"`},
		"above all":            {"initialLevel: 0%", "initialLevel: 120%", "initialLevel: must be between 0 and 100, not 120"},
		"an unknown field":     {"warmup: 1m", "warmUp: 1m", "warmUp: is unknown: want kind, name, duration, warmup,"},
		"gateways":             {"count: 4", "count: 0", "gateways.count: must be between 1 and 200, not 0"},
		"half a gateway":       {"count: 4", "count: 4.5", "gateways.count: must be a whole number, not 4.5"},
		"skew":                 {"skew: [70, 10, 10, 10]", "skew: [1]", "gateways.skew: must have a weight for each of the 4 gateways, not 1"},
		"no weight":            {"skew: [70, 10, 10, 10]", "skew: [0, 0, 0, 0]", "gateways.skew: must have a weight above 0"},
		"sharing":              {"sharing: Divided", "sharing: None", `gateways.sharing: must be Pool or Divided, not "None"`},
		"a list of providers":  {"provider:\n  anthropic:", "provider:\n  other:", `streams[0].provider: "anthropic" is none of the workload's providers`},
		"budget":               {"budget: Requests", "budget: Calls", "provider.anthropic.limits[0].budget: must be Requests or Tokens or"},
		"amount":               {"amount: 4k", "amount: 4q", `provider.anthropic.limits[0].amount: must be a number such as 2000 or 400k, not "4q"`},
		"a negative amount":    {"amount: 4k", "amount: -4", "provider.anthropic.limits[0].amount: must be between 0 and"},
		"hexadecimal":          {"amount: 4k", "amount: '0x10'", "provider.anthropic.limits[0].amount: must be a number"},
		"not a number":         {"amount: 4k", "amount: .nan", "provider.anthropic.limits[0].amount: must be a number, not NaN"},
		"per":                  {"per: Minute}", "per: Week}", `provider.anthropic.limits[0].per: must be Second or Minute or Hour or Day, not "Week"`},
		"a fixed burst":        {"per: Day, shape", "per: Day, burst: 5, shape", "provider.anthropic.limits[2].burst: must be the amount where the shape is Fixed"},
		"a window of slots":    {"amount: 50}", "amount: 50, per: Minute}", "provider.anthropic.limits[3].per: has no meaning for calls in flight"},
		"twice":                {"amount: 50}", "amount: 50}\n    - {budget: Requests, amount: 4k, per: Minute}", "provider.anthropic.limits: has Requests/Minute twice"},
		"charges":              {"charges: EstimateThenActual", "charges: Never", "provider.anthropic.charges: must be MaxAtAdmission or"},
		"headers":              {"roundTo: 1000", "roundTo: 0", "provider.anthropic.headers.roundTo: must be between 1 and"},
		"headers, unknown":     {"roundTo: 1000", "step: 1000", "provider.anthropic.headers.step: is unknown"},
		"a stream's name":      {"name: burst", "name: chat", `streams[1].name: "chat" appears twice`},
		"no name":              {"name: burst, ", "", "streams[1].name: is required"},
		"sigma":                {"sigma: 0.8", "sigma: -1", "streams[2].inputTokens.lognormal.sigma: must be between 0 and 5, not -1"},
		"no median":            {"median: 1500, ", "", "streams[2].inputTokens.lognormal.median: is required"},
		"no distribution":      {"{lognormal: {median: 1500, sigma: 0.8}}", "{}", "streams[2].inputTokens: must be a value, or have just one of constant and lognormal"},
		"no arrivals":          {"arrivals: {every: 300ms}, ", "", "streams[0].arrivals: is required"},
		"two kinds":            {"{every: 300ms}", "{every: 300ms, poissonPerMinute: 3}", "streams[0].arrivals: must have just one of every"},
		"too often":            {"{every: 300ms}", "{every: 1us}", "streams: offer about 600001"},
		"at without count":     {"{at: 0s, count: 400}", "{at: 0s}", "streams[1].arrivals.count: is required"},
		"count without at":     {"{at: 0s, count: 400}", "{count: 400}", "streams[1].arrivals.at: is required"},
		"to before from":       {"from: 1m, to: 5m", "from: 5m, to: 1m", "streams[2].arrivals.to: must not be before from"},
		"after the end":        {"from: 1m, to: 5m", "from: 1m, to: 50m", "streams[2].arrivals.to: must be between 0s and 10m0s, not 50m0s"},
		"disconnects":          {"disconnectPercent: 2", "disconnectPercent: 200", "streams[2].disconnectPercent: must be between 0 and 100, not 200"},
		"retries":              {"sdkRetries: 2", "sdkRetries: 200", "streams[2].sdkRetries: must be between 0 and 20, not 200"},
		"streaming":            {"streaming: true", "streaming: 1", "streams[2].streaming: must be true or false, not 1"},
		"an event of nothing":  {", overload: anthropic}", "}", "events[0]: must have just one of overload,"},
		"an event of two":      {"scale: 10", "scale: 10, partition: coordinator", "events[1]: must have just one of overload,"},
		"no such provider":     {"overload: anthropic", "overload: openai", `events[0].overload: "openai" is none of the workload's providers`},
		"until before at":      {"at: 3m, until: 4m", "at: 4m, until: 3m", "events[0].until: must not be before at"},
		"until at once":        {"scale: 10", "scale: 10, until: 6m", "events[1].until: has no meaning for what happens at once"},
		"no gateways":          {"scale: 10", "scale: 0", "events[1].scale: must be between 1 and 200, not 0"},
		"until without every":  {"every: 10s, until: 7m", "until: 7m", "events[2].crash.until: has no meaning without every"},
		"outsiders of nothing": {"inputTokensPerSecond: 2000", "inputTokensPerSecond: 0", "events[4].outsiders: must use something"},
		"edit":                 {"limit: itpm, ", "", "events[5].edit.limit: is required"},
		"a baseline":           {"[none,", "[nothing,", `baseline[0]: must be none or sdk-exponential or gateway-no-lanes, not "nothing"`},
		"a baseline twice":     {"[none,", "[none, none,", "baseline: has 4 items, more than 3"},
		"a condition":          {`">= 15"`, `"=> 15"`, `expect[streams.ingest.succeeded]: must be a condition such as ">= 15" with one of == != < <= > >=, not "=> 15"`},
		"a bare condition":     {`">= 15"`, `15`, `expect[streams.ingest.succeeded]: must be a condition`},
		"not YAML":             {"kind: Workload", "kind: [", "yaml"},
		"a key twice":          {"kind: Workload", "kind: Workload\nkind: Workload", `key "kind" already set`},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(whole, c.old) {
				t.Fatalf("%q is not in the file", c.old)
			}
			_, err := workload.Parse([]byte(strings.Replace(whole, c.old, c.changed, 1)))
			if !errors.Is(err, workload.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\nwant %s", err, c.want)
			}
		})
	}
}

func TestNothingAtAll(t *testing.T) {
	for _, content := range []string{"", "null", "[]", "7", "x"} {
		if _, err := workload.Parse([]byte(content)); !errors.Is(err, workload.ErrInvalid) {
			t.Errorf("%q: %v", content, err)
		}
	}
	if _, err := workload.Parse(make([]byte, workload.MaxBytes+1)); !errors.Is(err, workload.ErrInvalid) {
		t.Error("a large file is read")
	}
}

func TestWhatIsSaidIsBounded(t *testing.T) {
	streams := strings.Repeat("- {nonsense: 1}\n", 90)
	_, err := workload.Parse([]byte("kind: Workload\nduration: 1m\nprovider: {p: {}}\nstreams:\n" + streams))
	if err == nil || strings.Count(err.Error(), "\n") > 21 {
		t.Errorf("%d lines", strings.Count(err.Error(), "\n"))
	}
}

func TestConditions(t *testing.T) {
	for condition, holds := range map[string][3]bool{ // of 14, 15 and 16
		"== 15": {false, true, false}, "!= 15": {true, false, true}, "< 15": {true, false, false},
		"<= 15": {true, true, false}, "> 15": {false, false, true}, ">= 1.5e1": {false, true, true},
	} {
		w, err := workload.Parse([]byte(strings.TrimSuffix(smallest, "}") + `, expect: {"a.b": "` + condition + `"}}`))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range holds {
			if got := w.Expect[0].Holds(float64(14 + i)); got != want {
				t.Errorf("%d %s: %t", 14+i, condition, got)
			}
		}
	}
}

// FuzzParse: no file makes it panic, and what is accepted is bounded.
func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(smallest))
	f.Add([]byte("kind: Workload\nduration: 1m\nprovider: {p: {limits: [null]}}\nstreams: [{arrivals: {every: 1ns}}]"))
	scenarios, _ := filepath.Glob("../../../test/scenarios/*.yaml")
	for _, name := range scenarios {
		if content, err := os.ReadFile(name); err == nil {
			f.Add(content)
		}
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		w, err := workload.Parse(content)
		if err != nil {
			if !errors.Is(err, workload.ErrInvalid) {
				t.Errorf("%v is not ErrInvalid", err)
			}
			return
		}
		switch {
		case w.Duration <= 0 || w.Warmup >= w.Duration || len(w.Streams) == 0 || len(w.Providers) == 0:
			t.Errorf("%+v was accepted", w)
		case w.Gateways.Count < 1 || w.InitialLevel < 0 || w.InitialLevel > 1:
			t.Errorf("%+v was accepted", w)
		}
		for i := range w.Streams {
			if v := w.Streams[i].InputTokens.At(40); !(v >= 0 && v <= 1e9) {
				t.Errorf("a call of %v tokens", v)
			}
		}
	})
}
