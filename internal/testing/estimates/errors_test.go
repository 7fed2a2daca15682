// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package estimates

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
)

// distribution is how far estimates were off, as parts of what was billed; sorted.
type distribution []float64

func (d *distribution) add(estimate, billed float64) { *d = append(*d, estimate/billed-1) }

// at is a quantile.
func (d distribution) at(q float64) float64 {
	slices.Sort(d)
	return d[int(q*float64(len(d)-1)+0.5)]
}

// under is the part that was estimated too low by more than a tenth.
func (d distribution) under() float64 {
	n := 0
	for _, e := range d {
		if e < -0.1 {
			n++
		}
	}
	return float64(n) / float64(len(d))
}

// bar is what a distribution must keep.
type bar struct{ p10, p50, p90, under float64 }

func (b bar) check(t *testing.T, name string, d distribution) {
	t.Helper()
	if d.at(0.1) < -b.p10 || d.at(0.9) > b.p90 || max(d.at(0.5), -d.at(0.5)) > b.p50 || d.under() > b.under {
		t.Errorf("%s: %s; the bar is %.0f %% below, ±%.0f %%, %.0f %% above, %.0f %% under-reserved", name, d, 100*b.p10, 100*b.p50, 100*b.p90, 100*b.under)
	}
}

func (d distribution) String() string {
	return fmt.Sprintf("%+.0f / %+.0f / %+.0f, %.0f %%", 100*d.at(0.1), 100*d.at(0.5), 100*d.at(0.9), 100*d.under())
}

// report logs a table of distributions.
func report(t *testing.T, columns []string, rows map[string][]distribution) {
	t.Helper()
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 1, ' ', 0)
	fmt.Fprintln(w, "| kind\t| "+strings.Join(columns, "\t| ")+"\t|")
	fmt.Fprintln(w, "|---"+strings.Repeat("\t|---", len(columns))+"\t|")
	names := []string{}
	for name := range rows {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(strings.ToLower(a), strings.ToLower(b)) })
	for _, name := range names {
		fmt.Fprint(w, "| "+name)
		for _, d := range rows[name] {
			fmt.Fprint(w, "\t| ", d)
		}
		fmt.Fprintln(w, "\t|")
	}
	_ = w.Flush()
	t.Logf("errors in %%: p10 / p50 / p90, then the part under-reserved by more than 10 %%\n%s", b.String())
}

func chance(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }
