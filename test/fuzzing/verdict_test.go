// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fuzzing

import "testing"

const (
	line  = "fuzz: elapsed: 3s, execs: 50468 (0/sec), new interesting: 8 (total: 129)\n"
	wrote = "    Failing input written to testdata/fuzz/FuzzX/1\n    To re-run:\n    go test -run=FuzzX/1\n"
)

// TestVerdict: only the engine's own end of time is no finding.
func TestVerdict(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		log    string
		want   verdict
	}{
		"passed":          {0, line + "PASS\n", nothing},
		"the time's end":  {1, line + "--- FAIL: FuzzX (3.28s)\n    context deadline exceeded\nFAIL\n", timeUp},
		"said twice":      {1, line + "--- FAIL: FuzzX (3.28s)\n    context deadline exceeded\n    context deadline exceeded\nFAIL\nexit status 1\n", timeUp},
		"a finding":       {1, line + "--- FAIL: FuzzX (0.28s)\n    --- FAIL: FuzzX (0.00s)\n        x_test.go:9: negative\n    \n" + wrote + "FAIL\n", found},
		"a seed":          {1, "--- FAIL: FuzzX (0.28s)\n    --- FAIL: FuzzX/seed#1 (0.00s)\n        x_test.go:9: negative\nFAIL\n", found},
		"a failing bound": {1, "--- FAIL: FuzzX (0.28s)\n    --- FAIL: FuzzX (0.00s)\n        x_test.go:9: context deadline exceeded\nFAIL\n", found},
		"both":            {1, "--- FAIL: FuzzX (0.28s)\n    x_test.go:9: negative\n    context deadline exceeded\nFAIL\n", found},
		"a panic":         {2, "panic: boom\n--- FAIL: FuzzX (0.28s)\n    context deadline exceeded\nFAIL\n", found},
		"a hung worker":   {1, "--- FAIL: FuzzX (0.28s)\n    fuzzing process hung or terminated unexpectedly: exit status 2\nFAIL\n", found},
		"no word":         {1, line, found},
		"no complaint":    {1, line + "--- FAIL: FuzzX (3.28s)\nFAIL\n", found},
		"killed":          {137, line, found},
		"not ended":       {-1, line + "--- FAIL: FuzzX (3.28s)\n    context deadline exceeded\nFAIL\n", found},
	} {
		t.Run(name, func(t *testing.T) {
			if got := judge(c.status, c.log); got != c.want {
				t.Errorf("verdict %d, want %d", got, c.want)
			}
		})
	}
}

// TestFiguresAreThoseOfTheLastLine: what was executed beyond the corpus is known, and a corpus that was not even tried whole is
// nothing.
func TestFiguresAreThoseOfTheLastLine(t *testing.T) {
	for log, want := range map[string]figures{
		"fuzz: elapsed: 3s, execs: 10 (3/sec), new interesting: 0 (total: 121)\n" + line: {executions: 50468, corpus: 121, added: 8},
		"fuzz: elapsed: 0s, gathering baseline coverage: 12/40 completed\nPASS\n":        {},
		"fuzz: elapsed: 3s, execs: 40 (3/sec), new interesting: 0 (total: 40)\nPASS\n":   {executions: 40, corpus: 40},
		"": {},
	} {
		if got := read(log); got != want {
			t.Errorf("%q: %+v, want %+v", log, got, want)
		}
	}
	if f := (figures{executions: 41, corpus: 40}); f.beyond() != 1 {
		t.Errorf("%d beyond the corpus", f.beyond())
	}
	if name := input(wrote); name != "FuzzX/1" {
		t.Errorf("the input is %q", name)
	}
}
