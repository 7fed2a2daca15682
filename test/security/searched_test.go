// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// searched are the packages whose tests run a part of the system that meets keys, tokens or prompts, each with what has
// everything that it writes meanwhile searched for their marks.
var searched = map[string]string{
	"cmd/kubectl-headgate":       "shown.Run(m)",
	"internal/controller":        "shown.Run(m)",
	"internal/coordinator":       "shown.Run(m)",
	"internal/gateway/proxy":     "shown.Over(m)",
	"internal/manager":           "shown.Run(m)",
	"internal/webhook":           "shown.Run(m)",
	"internal/testing/dataplane": "keptSecrets(g.written())",
	"test/dataplane":             "dataplane.Main(m, ",
	"test/deferral":              "shown.Leaks(",
	"test/e2e":                   "TestKeysAndPromptsAreNeverShown",
	"test/exits":                 "dataplane.Main(m, ",
	"test/hostile":               "dataplane.Main(m, ",
}

// TestEverythingWrittenDuringTestsIsSearched: a package that is no more searched says nothing when it leaks.
func TestEverythingWrittenDuringTestsIsSearched(t *testing.T) {
	for dir, by := range searched {
		files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s: there is no such package: %v", dir, err)
		}
		found := false
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(content), by)
		}
		if !found {
			t.Errorf("%s: nothing there has %q", dir, by)
		}
	}
}
