// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatCannotBeRunIsSaid: nothing is fuzzed for no time, by no process, or where there is no target.
func TestWhatCannotBeRunIsSaid(t *testing.T) {
	t.Setenv("HEADGATE_FUZZ_CORPUS", t.TempDir())
	for name, tc := range map[string]struct {
		args []string
		env  string
		want string
	}{
		"no time":        {[]string{"soon"}, "", `"soon" is no time`},
		"a negative one": {[]string{"-1s"}, "", "is no time"},
		"no number":      {[]string{"ci"}, "many", `FUZZ_JOBS is "many"`},
		"none at once":   {nil, "0", `FUZZ_JOBS is "0"`},
		"no target":      {[]string{"ci"}, "2", "there is no fuzz target"},
		"no folder":      {[]string{"1s", "none"}, "", "none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("FUZZ_JOBS", tc.env)
			if clean, err := run(t.Context(), tc.args); clean || err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%t, %v", clean, err)
			}
		})
	}
}

func TestCIBeginsAtTheSameEachTime(t *testing.T) {
	for number, want := range map[string]int{"": 1, "7": 7, "random": 0, "0": -1, "-3": -1, "x": -1} {
		got, err := first(number)
		if failed := want < 0; failed != (err != nil) || !failed && got != want {
			t.Errorf("%q: %d, %v", number, got, err)
		}
	}
	t.Setenv("HEADGATE_FUZZ_CORPUS", "")
	one, endOne, err := corpus(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	two, endTwo, err := corpus(t.Context(), true)
	if err != nil || one == two {
		t.Errorf("%q and %q, %v", one, two, err)
	}
	endOne()
	endTwo()
	if _, err := os.Stat(one); !os.IsNotExist(err) {
		t.Errorf("it is left: %v", err)
	}
	if kept, _, err := corpus(t.Context(), false); err != nil || !filepath.IsAbs(kept) || !strings.HasSuffix(kept, "headgate") {
		t.Errorf("%q, %v", kept, err)
	}
}
