// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package html_test

import (
	"math"

	"github.com/headgate-dev/headgate/internal/simulate/result"
)

const (
	sampleSeconds = 600
	sampleBurst   = 400_000
)

// sample is a result with everything that a page shows.
func sample() *result.Result {
	r := sampleRun(1, map[string]float64{"default": 40, "bulk": 4})
	r.Policy, r.Workload, r.Seed, r.WarmupSeconds = "team-support/support", "busy-hour.yaml", 7, 60
	r.Gateways = result.Gateways{Count: 4}
	r.Expect = []result.Expectation{
		{What: "streams.ingest.succeeded >= 15", Got: 18, OK: true},
		{What: "provider.anthropic.rejected429 == 0", Got: 3},
		{What: "provider.anthropic.budgets.InputTokens.utilisation >= 0.99", Got: 0.99412345, OK: true},
	}
	r.Provider["anthropic"].Lanes = map[string]*result.Lane{
		"bulk":    {Share: 0.4, LargestSeconds: 22.5, LongestWait: 21.7, Admitted: 18, QueuedAtMost: 4, LatenessMax: -1},
		"default": {Share: 0.6, LargestSeconds: 0.5, LongestWait: 3, Admitted: 1801, Refused: 99, QueuedAtMost: 40},
	}
	r.Tenants = map[string]*result.Tenant{
		"a": {Counts: r.Streams["chat"].Counts, Used: map[string]float64{"InputTokens": 3.6e6, "Requests": 1800}},
		"b": {Counts: r.Streams["ingest"].Counts, Used: map[string]float64{"InputTokens": 1.1e6, "Requests": 18}},
	}
	r.Baselines = map[string]*result.Result{
		"none":             sampleRun(0.45, nil),
		"sdk-exponential":  sampleRun(0.7, nil),
		"gateway-no-lanes": sampleRun(0.85, map[string]float64{"": 90}),
	}
	return r
}

// sampleRun is a run in which a part of the calls succeeds.
func sampleRun(part float64, queues map[string]float64) *result.Result {
	lost := 1 - part
	failed := map[string]int{}
	if lost > 0 {
		failed["429"] = int(1900 * lost)
	}
	chat := int(1800 * part)
	r := &result.Result{
		DurationSeconds: sampleSeconds,
		Streams: map[string]*result.Stream{
			"chat": {
				Counts: result.Counts{Offered: 1900, Succeeded: chat, Declined: map[string]int{"Deadline": 1900 - chat - failed["429"]}, Failed: failed},
				Tenant: "a", Route: "anthropic", Attempts: 1900, Decline: result.Quantiles{P50: 0.002, P99: 0.004, Max: 0.01},
				Wait: result.Quantiles{P50: 0.31, P99: 2.4, Max: 3}, Waits: sampleWaits(chat, 0.3),
			},
			"ingest": {
				Counts: result.Counts{Offered: 18, Succeeded: int(18 * part * part), Unfinished: 18 - int(18*part*part)},
				Tenant: "b", Route: "anthropic", Lane: "bulk", Attempts: 18, TooLate: int(4 * lost),
				Wait: result.Quantiles{P50: 9, P99: 21.7, Max: 21.7}, Waits: sampleWaits(int(18*part*part), 9),
			},
		},
		Provider: map[string]*result.Provider{"anthropic": {
			Sends: 1818, Rejected429: int(900 * lost), PeakPer100ms: 3 + int(90*lost),
			Budgets: map[string]*result.Budget{
				"InputTokens": {Amount: sampleBurst, Burst: sampleBurst, WindowSeconds: 60, Used: 3.9e6 * part, Utilisation: 0.994 * part, MaxExcess: 4e4 * lost},
				"Requests":    {Amount: 4000, Burst: 4000, WindowSeconds: 60, Used: 1818, Utilisation: 0.2},
			},
		}},
	}
	r.Series = sampleSeries(part, queues)
	return r
}

func sampleWaits(n int, middle float64) []result.Bin {
	var out []result.Bin
	for i, p := range []float64{0.1, 0.25, 0.3, 0.2, 0.1, 0.05} {
		out = append(out, result.Bin{UpTo: middle * math.Pow(2, float64(i-2)), Count: int(float64(n) * p)})
	}
	return out
}

func sampleSeries(part float64, queues map[string]float64) []result.Series {
	curve := func(f func(t float64) float64) []result.Point {
		var out []result.Point
		for i := 1; i <= result.MaxPoints; i++ {
			t := sampleSeconds * float64(i) / result.MaxPoints
			out = append(out, result.Point{Seconds: t, Value: f(t)})
		}
		return out
	}
	wave := func(t, period float64) float64 { return (1 + math.Sin(2*math.Pi*t/period)) / 2 }
	out := []result.Series{
		{Of: result.OfLevel, Route: "anthropic", Key: "InputTokens", Ceiling: sampleBurst, Points: curve(func(t float64) float64 {
			return sampleBurst * (0.1*wave(t, 31) + (1-part)*wave(t, 200)*1.2 - 0.05)
		})},
		{Of: result.OfLevel, Route: "anthropic", Key: "Requests", Ceiling: 4000, Points: curve(func(t float64) float64 { return 4000 * (0.8 + 0.2*wave(t, 90)) })},
		{Of: result.OfSends, Route: "anthropic", Points: curve(func(t float64) float64 { return 3 + 4*(1-part)*wave(t, 45) })},
		{Of: result.OfThrottled, Route: "anthropic", Points: curve(func(t float64) float64 { return 3 * (1 - part) * wave(t, 60) })},
		{Of: result.OfOverloaded, Route: "anthropic", Points: curve(func(float64) float64 { return 0 })},
	}
	for lane, most := range queues {
		out = append(out, result.Series{Of: result.OfQueue, Route: "anthropic", Key: lane, Points: curve(func(t float64) float64 { return math.Round(most * wave(t, 75)) })})
	}
	if part == 1 {
		out = append(out, result.Series{Of: result.OfDeclined, Route: "anthropic", Key: "chat", Points: curve(func(t float64) float64 { return math.Max(0, wave(t, 150)-0.6) })})
	}
	return out
}
