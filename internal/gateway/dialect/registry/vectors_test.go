// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"bufio"
	"cmp"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/explain"
)

// vector is a response and what it says.
type vector struct {
	Name     string                     `json:"name"`
	Provider string                     `json:"provider"`
	Status   int                        `json:"status"`
	Headers  map[string]json.RawMessage `json:"headers"`
	Body     string                     `json:"body"`
	Received time.Time                  `json:"received_at"`
	Expect   explain.Expectation        `json:"expect"`
}

// TestResponseVectors pins what each recorded response says: its class, its wait and its budgets. Every provider
// is found by the name that people write.
func TestResponseVectors(t *testing.T) {
	const want = 100 // a vector that gets lost must be noticed
	vectors := readVectors(t, "testdata/responses.jsonl")
	if len(vectors) != want {
		t.Errorf("%d vectors, want %d", len(vectors), want)
	}
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			f, ok := facts.Find(v.Provider)
			d := ByName(f.Name)
			if !ok || d == nil {
				t.Fatalf("no dialect for %q", v.Provider)
			}
			got := explain.Read(d, explain.Response{
				Status: v.Status, Header: v.header(t), Body: []byte(v.Body), Received: v.Received,
			})
			compareExpectations(t, v.Expect, got.Expectation())
		})
	}
}

// compareExpectations compares budgets in any order, and numbers exactly: programs read them as they are written.
func compareExpectations(t *testing.T, want, got explain.Expectation) {
	t.Helper()
	sortBudgets(want.Budgets)
	sortBudgets(got.Budgets)
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func sortBudgets(budgets []explain.Budget) {
	slices.SortFunc(budgets, func(a, b explain.Budget) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Window, b.Window), cmp.Compare(orMinus(a.Limit), orMinus(b.Limit)))
	})
}

func orMinus(v *float64) float64 {
	if v == nil {
		return -1
	}
	return *v
}

func readVectors(t *testing.T, path string) (vectors []vector) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		vectors = append(vectors, v)
	}
	return vectors
}

// header has repeated field lines where the vector has a list.
func (v vector) header(t *testing.T) http.Header {
	t.Helper()
	h := http.Header{}
	for name, raw := range v.Headers {
		var lines []string
		if json.Unmarshal(raw, &lines) != nil {
			lines = []string{""}
			if err := json.Unmarshal(raw, &lines[0]); err != nil {
				t.Fatal(err)
			}
		}
		for _, line := range lines {
			h.Add(name, line)
		}
	}
	return h
}
