// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package scenarios

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/simulate"
	"github.com/headgate-dev/headgate/internal/simulate/result"
)

// seed is every scenario's: what they expect must not hang on it, see TestExpectationsHoldWithOtherSeeds.
const seed = 1

// scenario is a file of this folder.
type scenario struct {
	name string
	// about is its comment: a title, and the paragraph that says what it shows.
	title, about     string
	policy, workload []byte
}

// all reads the folder's files.
func all(t *testing.T) []scenario {
	t.Helper()
	paths, err := filepath.Glob("*.yaml")
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d scenarios: %v", len(paths), err)
	}
	out := make([]scenario, 0, len(paths))
	for _, path := range paths {
		out = append(out, read(t, path))
	}
	return out
}

// read parts a file into comment, policy and workload.
func read(t *testing.T, path string) scenario {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	policy, workload, ok := bytes.Cut(content, []byte("\n---\n"))
	if !ok {
		t.Fatalf("%s: no policy and workload with --- between them", path)
	}
	s := scenario{name: strings.TrimSuffix(path, ".yaml"), policy: policy, workload: workload}
	var lines []string
	for line := range strings.Lines(string(content)) {
		if !strings.HasPrefix(line, "#") {
			break
		}
		lines = append(lines, strings.TrimSpace(strings.TrimPrefix(line, "#")))
	}
	if len(lines) < 5 || lines[2] != "" || lines[4] != "" {
		t.Fatalf("%s: after the license come a line with a title, an empty one, and what it shows", path)
	}
	s.title, s.about = lines[3], strings.Join(lines[5:], " ")
	return s
}

// play runs a scenario.
func (s scenario) play(t *testing.T, seed uint64) *result.Result {
	t.Helper()
	r, err := simulate.Run(simulate.Input{Policy: s.policy, Workload: s.workload, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
