// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/simulate/result"
	"github.com/headgate-dev/headgate/internal/simulate/text"
)

var update = flag.Bool("update", false, "write the golden files anew")

// full is a result with everything in it.
func full() *result.Result {
	chat := &result.Stream{
		Counts: result.Counts{
			Offered: 1800, Succeeded: 1219, Declined: map[string]int{"Deadline": 420, "QueueFull": 104}, Deferred: 30,
			Failed: map[string]int{"HungUp": 7, "529": 3}, Unfinished: 17,
		},
		Tenant: "a", Route: "anthropic", Attempts: 1300, DeferredDone: 29, FailedOver: 4, TooLate: 2, Resubmitted: 11, Told: 5,
		Wait: result.Quantiles{P50: 0.0416, P99: 26.22, Max: 126.4}, Decline: result.Quantiles{P99: 0.0004},
	}
	idle := &result.Stream{Counts: result.Counts{Declined: map[string]int{}, Failed: map[string]int{}}, Route: "anthropic"}
	early := &result.Stream{
		Counts: result.Counts{Offered: 3, Succeeded: 3}, Tenant: "b", Route: "anthropic", Attempts: 4, Told: 1, EarliestSendMinusFloor: -0.25,
		Wait: result.Quantiles{P50: 3600, P99: 7300, Max: 7300},
	}
	provider := &result.Provider{
		Sends: 1277, Rejected429: 2, Rejected529: 3, PeakPer100ms: 16,
		Budgets: map[string]*result.Budget{
			"InputTokens": {Amount: 400_000, Burst: 400_000, WindowSeconds: 60, Used: 3_597_999.6, Utilisation: 0.99954, MaxExcess: 1.2, Outsiders: 120_000},
			"InFlight":    {Amount: 50, Burst: 50, Used: 1277, Utilisation: 0.4},
			"Tokens/Day":  {Amount: 10e6, Burst: 10e6, WindowSeconds: 86400, MaxDebt: 44},
		},
		Lanes: map[string]*result.Lane{
			"bulk":    {Share: 0.4, LargestSeconds: 22.5, Admitted: 18, LongestWait: 24.1, QueuedAtMost: 1, LatenessMax: 0.0004},
			"default": {Share: 0.6, Admitted: 1226, Refused: 524, LongestWait: 26.4, QueuedAtMost: 53},
		},
	}
	none := &result.Result{
		Streams:  map[string]*result.Stream{"chat": {Counts: result.Counts{Offered: 1800, Succeeded: 900}, Attempts: 1800}, "idle": idle},
		Provider: map[string]*result.Provider{"anthropic": {Sends: 1800, Rejected429: 900, Budgets: map[string]*result.Budget{"InputTokens": {Utilisation: 1}}}},
	}
	return &result.Result{
		Policy: "canonical", Workload: "starvation", Seed: 7, DurationSeconds: 600, WarmupSeconds: 60,
		Streams:  map[string]*result.Stream{"chat": chat, "idle": idle, "early": early},
		Provider: map[string]*result.Provider{"anthropic": provider},
		Gateways: result.Gateways{Count: 4, GrantsBurned: 2, Crashes: 3, Burned: map[string]float64{"anthropic/itpm": 4000}},
		Tenants: map[string]*result.Tenant{
			"a": {Counts: chat.Counts, Used: map[string]float64{"InputTokens": 2_438_000}}, "b": {Counts: early.Counts},
		},
		Baselines: map[string]*result.Result{"none": none, "sdk-exponential": {}},
		Expect:    []result.Expectation{{What: "streams.chat.succeeded >= 15", Got: 1219, OK: true}, {What: "provider.anthropic.rejected429 == 0", Got: 2}},
	}
}

// TestGolden: all there is to say, and next to nothing.
func TestGolden(t *testing.T) {
	for name, r := range map[string]*result.Result{
		"full": full(), "least": {DurationSeconds: 5400, Streams: map[string]*result.Stream{"a": {}}, Provider: map[string]*result.Provider{"p": {}}},
	} {
		var out strings.Builder
		if err := text.Write(&out, r); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(file, []byte(out.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), out.String()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
		for line := range strings.Lines(out.String()) {
			if strings.TrimRight(line, " \n") != strings.TrimRight(line, "\n") || len(line) > 140 {
				t.Errorf("a line that is too long or ends in spaces: %q", line)
			}
		}
	}
}

func TestAFailedWriteIsTold(t *testing.T) {
	if err := text.Write(broken{}, full()); err == nil {
		t.Error("nothing is said")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, os.ErrClosed }
