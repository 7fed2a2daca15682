// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/test/demo/load"
)

func TestPercentileIsNearestRank(t *testing.T) {
	values := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for _, tc := range []struct{ p, want float64 }{{0, 1}, {0.5, 5}, {0.51, 6}, {0.99, 10}, {1, 10}} {
		if got := load.Percentile(values, tc.p); got != tc.want {
			t.Errorf("Percentile(%v) = %v, want %v", tc.p, got, tc.want)
		}
	}
	if got := load.Percentile(nil, 0.5); got != 0 {
		t.Errorf("of nothing = %v", got)
	}
}

func TestMergeAddsUp(t *testing.T) {
	got := load.Merge([]load.Result{
		{
			State: load.Done, Role: "support", Calls: 3, OK: 2, Failed: map[string]int64{load.Declined: 1},
			WaitsMillis: []float64{1, 9}, StartedUnixMillis: 20, EndedUnixMillis: 30, TokensOK: 10,
		},
		{
			State: load.Running, Role: "support", Calls: 2, OK: 1, Failed: map[string]int64{load.Declined: 1},
			WaitsMillis: []float64{5}, StartedUnixMillis: 10, EndedUnixMillis: 0, TokensOK: 5, InFlight: 1,
		},
	})
	want := load.Result{
		State: load.Running, Role: "support", Calls: 5, OK: 3, Failed: map[string]int64{load.Declined: 2}, InFlight: 1,
		WaitsMillis: []float64{1, 5, 9}, StartedUnixMillis: 10, EndedUnixMillis: 30, TokensOK: 15,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRunsAreBounded(t *testing.T) {
	good := load.Run{Seconds: 60, CallsPerMinute: 90}.Complete()
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*load.Run){
		"too long":     func(r *load.Run) { r.Seconds = 3_601 },
		"no time":      func(r *load.Run) { r.Seconds = 0 },
		"too fast":     func(r *load.Run) { r.CallsPerMinute = 600_001 },
		"too many":     func(r *load.Run) { r.Seconds, r.CallsPerMinute = 3_600, 600_000 },
		"too large":    func(r *load.Run) { r.InputTokens = 1_000_001 },
		"negative":     func(r *load.Run) { r.OutputTokens = -1 },
		"over 100 %":   func(r *load.Run) { r.OpenAIPercent = 101 },
		"unbounded":    func(r *load.Run) { r.MaxConcurrent = 10_001 },
		"endless wait": func(r *load.Run) { r.DrainSeconds = 3_601 },
	} {
		bad := good
		change(&bad)
		if bad.Validate() == nil {
			t.Errorf("%s: accepted %+v", name, bad)
		}
	}
}
