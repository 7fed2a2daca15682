// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/explain"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/registry"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var received = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)

// golden compares with a file, or writes it.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got)\n%s", path, diff)
	}
}

func files(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: no files, %v", pattern, err)
	}
	return paths
}

// dialectOf takes the dialect from the beginning of a file's name: openai-throttle.http.
func dialectOf(t *testing.T, path string) dialect.Dialect {
	t.Helper()
	name, _, _ := strings.Cut(filepath.Base(path), "-")
	d := registry.ByRoute(name)
	if d == nil {
		t.Fatalf("%s: no dialect %q", path, name)
	}
	return d
}

// TestTextOfResponses pins what a person reads of pasted responses.
func TestTextOfResponses(t *testing.T) {
	for _, path := range files(t, "testdata/responses/*.http") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := explain.ReadResponse(bytes.NewReader(content), received)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := explain.Text(&out, dialectOf(t, path), resp); err != nil {
				t.Fatal(err)
			}
			golden(t, strings.TrimSuffix(path, ".http")+".txt", out.Bytes())
		})
	}
}

// TestTextOfPolicies pins what a person reads of policies: every sample, and those of this package.
func TestTextOfPolicies(t *testing.T) {
	paths := append(files(t, "../../config/samples/*.yaml"), files(t, "testdata/policies/*.yaml")...)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			err = explain.Policies(&out, content)
			if wantInvalid := strings.Contains(path, "invalid"); errors.Is(err, explain.ErrInvalid) != wantInvalid || !wantInvalid && err != nil {
				t.Errorf("error %v", err)
			}
			name := strings.TrimSuffix(filepath.Base(path), ".yaml") + ".txt"
			golden(t, filepath.Join("testdata/policies", name), out.Bytes())
		})
	}
}

// TestDefaultsAreKnownForEveryDialect: the API takes each name of the facts, so that a default policy has a meaning.
func TestDefaultsAreKnownForEveryDialect(t *testing.T) {
	resp, err := explain.ReadResponse(strings.NewReader("HTTP/1.1 429 Too Many Requests\nRetry-After: 9\n\n"), received)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range facts.All() {
		d := registry.ByName(f.Name)
		if d == nil {
			t.Errorf("%s is not registered", f.Name)
			continue
		}
		var out bytes.Buffer
		if err := explain.Text(&out, d, resp); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"Waits 9s to 11.25s", "between 12:00:09.000 UTC and 12:00:11.250 UTC", "WITH ITS DEFAULTS IT"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q is not in\n%s", f.Name, want, out.String())
			}
		}
	}
}
