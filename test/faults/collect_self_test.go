// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"slices"
	"strings"
	"testing"
)

// TestWhatMayNotCount reads tests that look as if they proved something.
func TestWhatMayNotCount(t *testing.T) {
	const told = "// Fault A1: It broke.\n// Headgate: It\n// holds.\n"
	for name, tc := range map[string]struct{ source, problem, err string }{
		"fine":                {told + "func TestA1X(t *testing.T) {}", "", ""},
		"skipped":             {told + "func TestA1X(t *testing.T) { t.Skip() }", "skipped", ""},
		"skipped inside":      {told + `func TestA1X(t *testing.T) { t.Run("x", func(t *testing.T) { t.Skipf("") }) }`, "skipped", ""},
		"skipped when short":  {told + "func TestA1X(t *testing.T) { if testing.Short() { return } }", "skipped", ""},
		"another Skip":        {told + "func TestA1X(t *testing.T) { s.Skip() }", "", ""},
		"left out by a tag":   {"//go:build long\n\npackage x\n" + told + "func TestA1X(t *testing.T) {}", "left out", ""},
		"left out with race":  {"//go:build !race\n\npackage x\n" + told + "func TestA1X(t *testing.T) {}", "left out", ""},
		"on a real node":      {"//go:build e2e\n\npackage x\n" + told + "func TestA1X(t *testing.T) {}", "", ""},
		"without an answer":   {"// Fault A1: It broke.\nfunc TestA1X(t *testing.T) {}", "", "without what Headgate does"},
		"an answer to nobody": {"// Headgate: It holds.\nfunc TestA1X(t *testing.T) {}", "", "answers no fault"},
	} {
		source := tc.source
		if !strings.Contains(source, "package x") {
			source = "package x\n" + source
		}
		proofs, err := inFile("x_test.go", []byte(source), map[string]bool{})
		switch {
		case err != nil:
			if tc.err == "" || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: %v", name, err)
			}
		case tc.err != "" || len(proofs) != 1 || (proofs[0].problem == "") != (tc.problem == "") || !strings.Contains(proofs[0].problem, tc.problem):
			t.Errorf("%s: %+v", name, proofs)
		case proofs[0].told[0] != (struct{ id, fault, headgate string }{"A1", "It broke.", "It holds."}):
			t.Errorf("%s: told %+v", name, proofs[0].told)
		}
	}
}

// TestWhatIsWrongIsSaid has every fault proved, and then one thing wrong.
func TestWhatIsWrongIsSaid(t *testing.T) {
	all := func() (proofs []proof) {
		for _, s := range sections {
			for _, id := range s.ids {
				proofs = append(proofs, proof{name: "Test" + id + "X", file: "x", ids: []string{id}, told: []told{{id, "It broke.", "It holds."}}})
			}
		}
		return proofs
	}
	if problems := judge(all()); len(problems) > 0 {
		t.Fatalf("%q", problems)
	}
	for want, spoil := range map[string]func(p []proof) []proof{
		"fault A1: 0 tests":                  func(p []proof) []proof { return p[1:] },
		"there is no fault A8":               func(p []proof) []proof { p[0].ids = []string{"A1", "A8"}; return p },
		"both tell of fault A1":              func(p []proof) []proof { return append(p, p[0]) },
		"tells of fault A2 and is not named": func(p []proof) []proof { p[1].ids = []string{"A3"}; return p },
		"is no sentence":                     func(p []proof) []proof { p[0].told[0].fault = "broke"; return p },
		"it may be skipped":                  func(p []proof) []proof { p[0].problem = "it may be skipped"; return p },
	} {
		problems := judge(spoil(all()))
		if !slices.ContainsFunc(problems, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("%q is not among %q", want, problems)
		}
	}
}
