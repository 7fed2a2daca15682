// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package html_test

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	page "github.com/headgate-dev/headgate/internal/simulate/html"
	"github.com/headgate-dev/headgate/internal/simulate/result"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestOutlineOfThePage(t *testing.T) {
	empty := &result.Result{DurationSeconds: 60}
	passed := sample()
	passed.Baselines, passed.Series, passed.Expect[1].OK = nil, nil, true
	for name, r := range map[string]*result.Result{"full": sample(), "empty": empty, "passed": passed} {
		t.Run(name, func(t *testing.T) {
			_, root := written(t, r)
			got, path := outline(root), "testdata/"+name+".golden"
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the outline changed (-want +got); -update accepts it:\n%s", diff)
			}
		})
	}
}

func TestEveryPlotIsSpokenAndHasATable(t *testing.T) {
	_, root := written(t, sample())
	ids := map[string]int{}
	plots := 0
	elements(root, func(e *html.Node) {
		if id := attribute(e, "id"); id != "" {
			ids[id]++
		}
		if e.Data != "figure" {
			return
		}
		plots++
		tables, curves := 0, 0
		elements(e, func(inside *html.Node) {
			switch {
			case inside.Data == "table":
				tables++
				if rows := strings.Count(outlineRows(inside), "\n"); rows < 3 {
					t.Errorf("figure %q: a table of %d rows", textOf(e)[:40], rows)
				}
			case inside.Data == "path" && strings.HasPrefix(attribute(inside, "class"), "curve"):
				curves++
				if d := attribute(inside, "d"); !strings.HasPrefix(d, "M") || strings.Contains(d, "NaN") || strings.Contains(d, "Inf") {
					t.Errorf("a curve is drawn as %.40q", d)
				}
			}
		})
		if tables != 1 || curves < 2 {
			t.Errorf("figure %.40q: %d tables, %d curves", textOf(e), tables, curves)
		}
	})
	elements(root, func(e *html.Node) {
		for _, id := range strings.Fields(attribute(e, "aria-labelledby")) {
			if ids[id] != 1 {
				t.Errorf("there are %d elements of id %q", ids[id], id)
			}
		}
	})
	if plots < 8 {
		t.Errorf("%d plots", plots)
	}
}

func outlineRows(table *html.Node) string {
	var b strings.Builder
	elements(table, func(e *html.Node) {
		if e.Data == "tr" {
			b.WriteString(textOf(e) + "\n")
		}
	})
	return b.String()
}

func TestSameResultSameBytes(t *testing.T) {
	a, _ := written(t, sample())
	for range 5 {
		if b, _ := written(t, sample()); !bytes.Equal(a, b) {
			t.Fatal("the page differs from run to run")
		}
	}
}

// TestTheLargestResultIsBounded: more of everything than is shown, with the longest names.
func TestTheLargestResultIsBounded(t *testing.T) {
	hostile := strings.Repeat(`"<&'>日本`, 60)
	r := enormous(hostile)
	r.Baselines = map[string]*result.Result{}
	for i := range 12 {
		r.Baselines[fmt.Sprint(i, hostile)] = enormous(hostile)
	}
	for range 2_000 {
		r.Expect = append(r.Expect, result.Expectation{What: strings.Repeat("streams."+hostile, 4) + " >= 1", Got: math.Pi})
	}
	b, root := written(t, r)
	t.Logf("%d bytes", len(b))
	if len(b) > page.MaxBytes {
		t.Errorf("the page has %d bytes, more than %d", len(b), page.MaxBytes)
	}
	if text := textOf(root); !strings.Contains(text, "Not shown here, but in the JSON: 8 more baselines") ||
		!strings.Contains(text, "1,900 more expectations") || !strings.Contains(text, "80 more streams") {
		t.Error("the page does not say what it leaves out")
	}
}

func enormous(hostile string) *result.Result {
	r := &result.Result{
		Policy: hostile, Workload: hostile, DurationSeconds: 1e6,
		Streams: map[string]*result.Stream{}, Provider: map[string]*result.Provider{}, Tenants: map[string]*result.Tenant{},
	}
	var points []result.Point
	for i := range result.MaxPoints {
		points = append(points, result.Point{Seconds: 1e6 / result.MaxPoints * float64(i), Value: math.Mod(float64(i)*12345.678, 99_999.9)})
	}
	reasons, used := map[string]int{}, map[string]float64{}
	for i := range 30 {
		reasons[fmt.Sprint(i, hostile)], used[fmt.Sprint(i, hostile)] = 123_456, 1e9/7
	}
	counts := result.Counts{Offered: 7_654_321, Succeeded: 123_456, Declined: reasons, Failed: reasons, Deferred: 12_345, Unfinished: 1_234}
	for i := range 100 {
		key := fmt.Sprint(i, hostile)
		s := &result.Stream{Counts: counts, Tenant: hostile, Route: hostile, Lane: hostile, Attempts: 1e6, Wait: result.Quantiles{P50: 1.0 / 3, P99: 1e5 / 3, Max: 1e6 / 3}}
		for b := range 200 {
			s.Waits = append(s.Waits, result.Bin{UpTo: 0.001 * math.Pow(1.1, float64(b)), Count: b})
		}
		r.Streams[key], r.Tenants[key] = s, &result.Tenant{Counts: counts, Used: used}
	}
	for i := range 10 {
		route := fmt.Sprint(i, hostile)
		p := &result.Provider{Budgets: map[string]*result.Budget{}, Lanes: map[string]*result.Lane{}}
		for j := range 40 {
			key := fmt.Sprint(j, hostile)
			p.Budgets[key] = &result.Budget{Amount: 1e9 / 7, WindowSeconds: 77.7, Used: 1e9 / 7, Utilisation: 1.0 / 3, MaxExcess: 1e5 / 7}
			p.Lanes[key] = &result.Lane{Share: 1.0 / 3, LargestSeconds: 1e4 / 7, LongestWait: 1e4 / 7, Admitted: 1e6, Refused: 1e6}
			for _, of := range []result.Of{result.OfLevel, result.OfQueue, result.OfSends, result.OfThrottled, result.OfOverloaded, result.OfDeclined} {
				r.Series = append(r.Series, result.Series{Of: of, Route: route, Key: key, Ceiling: 1e5, Points: points})
			}
		}
		r.Provider[route] = p
	}
	return r
}
