// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/explain"
)

// vector is a response and what the command must say of it.
type vector struct {
	Name     string                     `json:"name"`
	Provider string                     `json:"provider"`
	Status   int                        `json:"status"`
	Headers  map[string]json.RawMessage `json:"headers"`
	Body     string                     `json:"body"`
	Received string                     `json:"received_at"`
	Expect   explain.Expectation        `json:"expect"`
}

func vectors(t *testing.T) (out []vector) {
	t.Helper()
	f, err := os.Open("../../internal/gateway/dialect/registry/testdata/responses.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	if len(out) != 100 {
		t.Fatalf("%d vectors, want 100", len(out))
	}
	return out
}

// raw is the response on the wire.
func (v vector) raw(t *testing.T, lineEnd string) string {
	t.Helper()
	var out strings.Builder
	fmt.Fprintf(&out, "HTTP/1.1 %d %s%s", v.Status, http.StatusText(v.Status), lineEnd)
	for name, value := range v.Headers {
		var lines []string
		if json.Unmarshal(value, &lines) != nil {
			lines = []string{""}
			if err := json.Unmarshal(value, &lines[0]); err != nil {
				t.Fatal(err)
			}
		}
		for _, line := range lines {
			fmt.Fprintf(&out, "%s: %s%s", name, line, lineEnd)
		}
	}
	out.WriteString(lineEnd)
	out.WriteString(v.Body)
	return out.String()
}

// build makes the real command once.
func build(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "kubectl-headgate")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "-ldflags", "-X main.version=v9", ".")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// TestVectorsThroughTheCommand: every recorded response, with both line ends, through the real process.
func TestVectorsThroughTheCommand(t *testing.T) {
	binary := build(t)
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			for _, lineEnd := range []string{"\n", "\r\n"} {
				var out, errs bytes.Buffer
				cmd := execCommand(t, binary, "explain", "--dialect", v.Provider, "--received-at", v.Received, "-o", "json")
				cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(v.raw(t, lineEnd)), &out, &errs
				if err := cmd.Run(); err != nil || errs.Len() > 0 {
					t.Fatalf("%v: %s", err, errs.String())
				}
				var got explain.Expectation
				strict := json.NewDecoder(&out)
				strict.DisallowUnknownFields()
				if err := strict.Decode(&got); err != nil {
					t.Fatal(err)
				}
				sortBudgets(v.Expect.Budgets)
				sortBudgets(got.Budgets)
				if diff := gocmp.Diff(v.Expect, got); diff != "" {
					t.Errorf("line end %q (-want +got)\n%s", lineEnd, diff)
				}
			}
		})
	}
}

func sortBudgets(budgets []explain.Budget) {
	slices.SortFunc(budgets, func(a, b explain.Budget) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Window, b.Window))
	})
}

func execCommand(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	return exec.CommandContext(t.Context(), name, args...)
}
