// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"bufio"
	"encoding/json"
	"math"
	"net/http"
	"os"
	"sort"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// vector is a response and what it says.
type vector struct {
	Name     string                     `json:"name"`
	Provider string                     `json:"provider"`
	Status   int                        `json:"status"`
	Headers  map[string]json.RawMessage `json:"headers"`
	Body     string                     `json:"body"`
	Received time.Time                  `json:"received_at"`
	Expect   expectation                `json:"expect"`
}

type expectation struct {
	Class   string   `json:"class"`
	Wait    *float64 `json:"wait_seconds"`
	Source  string   `json:"source"`
	Budgets []bucket `json:"budgets"`
}

type bucket struct {
	Name      string   `json:"name"`
	Window    string   `json:"window"`
	Limit     *float64 `json:"limit"`
	Remaining *float64 `json:"remaining"`
	Reset     *float64 `json:"reset_seconds"`
}

// TestResponseVectors pins what each recorded response says: its class, its wait and its budgets.
func TestResponseVectors(t *testing.T) {
	const want = 56 // a vector that gets lost must be noticed
	vectors := readVectors(t, "testdata/responses.jsonl")
	if len(vectors) != want {
		t.Errorf("%d vectors, want %d", len(vectors), want)
	}
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			got := explain(ByRoute(v.Provider), v)
			sortBuckets(got.Budgets)
			sortBuckets(v.Expect.Budgets)
			if diff := cmp.Diff(v.Expect, got, cmpopts.EquateEmpty(), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
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

func (v vector) header() http.Header {
	h := http.Header{}
	for name, raw := range v.Headers {
		var lines []string
		if json.Unmarshal(raw, &lines) != nil {
			lines = []string{""}
			_ = json.Unmarshal(raw, &lines[0])
		}
		for _, line := range lines {
			h.Add(name, line)
		}
	}
	return h
}

func explain(d dialect.Dialect, v vector) expectation {
	h := v.header()
	r := d.ReadHeaders(v.Status, h, v.Received)
	class := dialect.ClassSuccess
	if v.Status/100 == 2 {
		m := d.NewMeter(d.Operation(http.MethodPost, "/v1/messages"), h, dialect.MeterOptions{})
		m.Write([]byte(v.Body))
		m.Close()
		if f, failed := m.StreamFailure(); failed {
			class = f.Class
		}
	} else {
		class = d.ReadFailure(v.Status, h, []byte(v.Body), &r).Class
	}
	e := expectation{Class: names[string(class)], Source: string(dialect.SourceNone)}
	if wait, source, ok := r.Wait(class); ok {
		e.Wait, e.Source = pointer(wait.Seconds()), sourceNames[source]
	}
	for _, b := range r.Budgets {
		e.Budgets = append(e.Budgets, shown(b))
	}
	return e
}

var names = map[string]string{
	"success": "ok", "throttle": "throttle", "quota_exhausted": "quota_exhausted", "overload": "overload",
	"transient": "transient", "permanent": "permanent",
}

var sourceNames = map[dialect.Source]string{
	dialect.SourceRetryAfterMillis: "retry-after-ms", dialect.SourceRetryAfterSeconds: "retry-after-seconds",
	dialect.SourceRetryAfterDate: "retry-after-date", dialect.SourceResetHeader: "reset-header", dialect.SourceBody: "body-hint",
}

func shown(b dialect.BudgetReading) bucket {
	name := map[string]string{
		plan.Requests: "requests", plan.Tokens: "tokens", plan.InputTokens: "input_tokens", plan.OutputTokens: "output_tokens",
		"": "unified",
	}[b.Budget]
	if b.Bucket == "project" {
		name = "project_tokens"
	}
	window := map[time.Duration]string{
		0: "unknown", time.Minute: "minute", 24 * time.Hour: "day", 5 * time.Hour: "5h", 7 * 24 * time.Hour: "7d",
	}[b.Window]
	out := bucket{Name: name, Window: window, Limit: stated(b.Limit), Remaining: stated(b.Remaining)}
	if b.HasReset {
		out.Reset = pointer(b.Reset.Seconds())
	}
	return out
}

func stated(v float64) *float64 {
	if v < 0 {
		return nil
	}
	return pointer(v)
}

func pointer(v float64) *float64 { return &v }

func sortBuckets(b []bucket) {
	key := func(b bucket) float64 {
		if b.Reset == nil {
			return math.Inf(1)
		}
		return *b.Reset
	}
	sort.Slice(b, func(i, j int) bool {
		if b[i].Name != b[j].Name {
			return b[i].Name < b[j].Name
		}
		return key(b[i]) < key(b[j])
	})
}
