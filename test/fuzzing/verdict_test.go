// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fuzzing

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

const progress = "fuzz: elapsed: 3s, execs: 50468 (0/sec), new interesting: 8 (total: 129)\n"

// TestVerdict: only the engine's own end of time is no finding.
func TestVerdict(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		log    string
		want   int
	}{
		"passed":          {0, progress + "PASS\n", 0},
		"the time's end":  {1, progress + "--- FAIL: FuzzX (3.28s)\n    context deadline exceeded\nFAIL\n", 0},
		"a finding":       {1, progress + "--- FAIL: FuzzX (0.28s)\n    --- FAIL: FuzzX (0.00s)\n        x_test.go:9: negative\n    \n    Failing input written to testdata/fuzz/FuzzX/1\nFAIL\n", 1},
		"a seed":          {1, "--- FAIL: FuzzX (0.28s)\n    --- FAIL: FuzzX/seed#1 (0.00s)\n        x_test.go:9: negative\nFAIL\n", 1},
		"a failing bound": {1, "--- FAIL: FuzzX (0.28s)\n    --- FAIL: FuzzX (0.00s)\n        x_test.go:9: context deadline exceeded\nFAIL\n", 1},
		"both":            {1, "--- FAIL: FuzzX (0.28s)\n    x_test.go:9: negative\n    context deadline exceeded\nFAIL\n", 1},
		"a panic":         {2, "panic: boom\n--- FAIL: FuzzX (0.28s)\n    context deadline exceeded\nFAIL\n", 2},
		"a hung worker":   {1, "--- FAIL: FuzzX (0.28s)\n    fuzzing process hung or terminated unexpectedly: exit status 2\nFAIL\n", 1},
		"no word":         {1, progress, 1},
		"killed":          {137, progress, 137},
	} {
		t.Run(name, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(log, []byte(c.log), 0o600); err != nil {
				t.Fatal(err)
			}
			err := exec.CommandContext(t.Context(), "../../hack/fuzz.d/verdict", strconv.Itoa(c.status), log).Run()
			got := 0
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				got = exit.ExitCode()
			} else if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("verdict %d, want %d", got, c.want)
			}
		})
	}
}
