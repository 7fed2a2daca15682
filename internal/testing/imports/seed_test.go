// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const (
	rapid = "pgregory.net/rapid"
	seed  = module + "internal/testing/seed"
)

// Random tests begin where package seed says, so that what one run of the tests finds every run finds: a test binary with
// rapid has package seed.
func TestRandomTestsBeginWhereSeedSays(t *testing.T) {
	packages := testImports(t)
	found := 0
	for path, imports := range packages {
		if !slices.Contains(imports, rapid) {
			continue
		}
		found++
		if path != seed && !slices.Contains(imports, seed) {
			t.Errorf("tests of %s import rapid and not %s: they begin elsewhere each time", path, seed)
		}
	}
	if found < 20 {
		t.Errorf("only %d of %d packages have tests with rapid: is go list asked rightly?", found, len(packages))
	}
}

// testImports is what each package's test binary is given by the package's own files, those of tests included.
func testImports(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-f",
		`{{.ImportPath}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}`, "./...")
	cmd.Dir = "../../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); len(fields) > 0 {
			packages[fields[0]] = fields[1:]
		}
	}
	return packages
}
