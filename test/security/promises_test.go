// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

var (
	named    = regexp.MustCompile("`(Test[A-Za-z0-9_]+)`")
	declared = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(t \*testing\.T\)`)
)

// tests are the names of all tests there are.
func tests(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(content, -1) {
			out[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestEachPromiseOfTheThreatModelNamesItsTest: a line that promises something ends with the tests that fail when it is
// broken, and they exist.
func TestEachPromiseOfTheThreatModelNamesItsTest(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(root, "docs", "threat-model.md"))
	if err != nil {
		t.Fatal(err)
	}
	known, promises := tests(t), 0
	for line := range strings.Lines(string(content)) {
		names := named.FindAllStringSubmatch(line, -1)
		for _, name := range names {
			if !known[name[1]] {
				t.Errorf("there is no test %s", name[1])
			}
		}
		// What a list says is a promise; plain text explains what is none.
		if strings.HasPrefix(line, "- ") {
			promises++
			if len(names) == 0 {
				t.Errorf("no test stands behind: %s", line)
			}
		}
	}
	if promises < 20 {
		t.Errorf("%d promises were read: is the document of another shape?", promises)
	}
}
