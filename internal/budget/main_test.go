// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/internal/testing/seed"
)

// leastSystems is how many random systems a full run must have tried.
const leastSystems = 20_000

var (
	// systems counts them.
	systems int
	// given says that the command line states how many.
	given bool
)

// TestMain fails a full run that tried fewer random systems than promised.
func TestMain(m *testing.M) {
	flag.Parse()
	partial := testing.Short() || fewer > 1
	flag.Visit(func(f *flag.Flag) {
		given = given || f.Name == "rapid.checks"
		partial = partial || given || f.Name == "test.run" || f.Name == "test.skip" || f.Name == "test.list"
	})
	code := m.Run()
	if code == 0 && !partial && systems < leastSystems {
		fmt.Fprintf(os.Stderr, "only %d random systems were tried, want %d\n", systems, leastSystems)
		code = 1
	}
	os.Exit(code)
}

// check tries a property on n random systems, unless the command line states how many.
func check(t *testing.T, n int, property func(*rapid.T)) {
	t.Helper()
	if !given {
		if err := flag.Set("rapid.checks", strconv.Itoa(max(1, n*seed.Times()/fewer))); err != nil {
			t.Fatal(err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		systems++
		property(t)
	})
}
