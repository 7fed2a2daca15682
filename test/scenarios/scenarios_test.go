// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package scenarios

import (
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/simulate/result"
)

var update = flag.Bool("update", false, "write docs/scenarios.md from what the scenarios show")

const document = "../../docs/scenarios.md"

// TestScenarios plays every scenario beside its baselines, and holds the document to what came of it.
func TestScenarios(t *testing.T) {
	played := all(t)
	results := make([]*result.Result, len(played))
	t.Run("play", func(t *testing.T) {
		for i, s := range played {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				results[i] = s.play(t, seed)
				s.check(t, results[i])
			})
		}
	})
	if t.Failed() || slices.Contains(results, nil) {
		return // what is wrong is not to be written down, nor said twice; nor is a part that -run chose
	}
	got := write(played, results)
	if *update {
		if err := os.WriteFile(document, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/scenarios.md is not what the scenarios show (-written +shown); make golden writes it:\n%s", diff)
	}
}

// check fails for each expectation that does not hold, and for a file that expects too little to show anything.
func (s scenario) check(t *testing.T, r *result.Result) {
	t.Helper()
	if len(r.Expect) < 3 || len(r.Baselines) < 2 {
		t.Errorf("%d expectations and %d baselines", len(r.Expect), len(r.Baselines))
	}
	for _, e := range r.Expect {
		if !e.OK {
			t.Errorf("expected %s, got %v", e.What, e.Got)
		}
	}
	for name, b := range r.Baselines {
		for stream, of := range b.Streams {
			if of.Offered != r.Streams[stream].Offered {
				t.Errorf("%s was offered %d calls of %s, Headgate %d", name, of.Offered, stream, r.Streams[stream].Offered)
			}
		}
	}
}

// TestExpectationsHoldWithOtherSeeds: what is expected is no accident of the chosen seed.
func TestExpectationsHoldWithOtherSeeds(t *testing.T) {
	for _, s := range all(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			for _, other := range s.otherSeeds() {
				for _, e := range s.withoutBaselines().play(t, other).Expect {
					if !e.OK {
						t.Errorf("seed %d: expected %s, got %v", other, e.What, e.Got)
					}
				}
			}
		})
	}
}
