// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/headgate-dev/headgate/test/demo/load"
)

// printTable compares the phases in files.
func printTable(w io.Writer, files []string) error {
	phases := make([]phase, 0, len(files))
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		var p phase
		if err := json.Unmarshal(raw, &p); err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
		phases = append(phases, p)
	}
	return render(w, phases)
}

// row is a line of the table: a name, and a figure for each phase.
type row struct {
	name  string
	value func(phase) string
}

func render(w io.Writer, phases []phase) error {
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	line := func(cells ...string) { _, _ = fmt.Fprintln(tw, strings.Join(cells, "\t")) } // Flush reports it
	header, rule := []string{""}, []string{""}
	for _, p := range phases {
		header, rule = append(header, p.Name), append(rule, strings.Repeat("-", len(p.Name)))
	}
	line(header...)
	line(rule...)
	for _, r := range rows(phases) {
		cells := []string{r.name}
		for _, p := range phases {
			cells = append(cells, r.value(p))
		}
		line(cells...)
	}
	return tw.Flush()
}

// rows are the lines of a table of phases: load, each role, and the provider.
func rows(phases []phase) []row {
	out := []row{{"load lasted", func(p phase) string { return fmt.Sprintf("%d s", p.Seconds) }}}
	for _, role := range rolesOf(phases) {
		of := func(f func(load.Result) string) func(phase) string {
			return func(p phase) string { return f(p.Roles[role]) }
		}
		out = append(out,
			row{role + " calls", of(func(r load.Result) string { return fmt.Sprint(r.Calls) })},
			row{role + " calls answered", of(answered)},
			row{role + " calls failed", of(func(r load.Result) string { return share(r.FailedCalls(), r.Calls) })})
		for _, kind := range kindsOf(phases, role) {
			out = append(out, row{"  " + kind, of(func(r load.Result) string { return fmt.Sprint(r.Failed[kind]) })})
		}
		out = append(out, row{role + " wait p50 / p99", of(waits)})
		if slices.Contains(kindsOf(phases, role), load.Declined) {
			out = append(out, row{role + " declined after p50 / p99", of(declined)})
		}
	}
	return append(out, providerRows()...)
}

func providerRows() []row {
	return []row{
		{"provider 429s", func(p phase) string { return fmt.Sprint(p.Throttled) }},
		{"provider 429s per success", func(p phase) string { return ratio(float64(p.Throttled), float64(p.Admitted)) }},
		{"tokens used", func(p phase) string { return fmt.Sprintf("%.0fk", p.Account.Spent/1_000) }},
		{"share of the allowance used", func(p phase) string {
			return percent(p.Account.Spent, p.Account.Start+p.Account.Refilled)
		}},
	}
}

func rolesOf(phases []phase) []string {
	seen := map[string]bool{}
	for _, p := range phases {
		for role := range p.Roles {
			seen[role] = true
		}
	}
	return sortedKeys(seen, func(a, b string) int { return strings.Compare(b, a) }) // support before ingest
}

func kindsOf(phases []phase, role string) []string {
	seen := map[string]bool{}
	for _, p := range phases {
		for _, kind := range p.Roles[role].Kinds() {
			seen[kind] = true
		}
	}
	return sortedKeys(seen, strings.Compare)
}

func sortedKeys(set map[string]bool, compare func(a, b string) int) []string {
	out := make([]string, 0, len(set))
	for k := range set {
		out = append(out, k)
	}
	slices.SortFunc(out, compare)
	return out
}

func answered(r load.Result) string { return share(r.OK, r.Calls) }

func share(part, whole int64) string {
	return fmt.Sprintf("%d (%s)", part, percent(float64(part), float64(whole)))
}

func percent(part, whole float64) string {
	if whole <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*part/whole)
}

func ratio(part, whole float64) string {
	if whole <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", part/whole)
}

func waits(r load.Result) string { return between(r.WaitsMillis) }

func declined(r load.Result) string { return between(r.DeclinedMillis) }

func between(times []float64) string {
	if len(times) == 0 {
		return "-"
	}
	return seconds(load.Percentile(times, 0.5)) + " / " + seconds(load.Percentile(times, 0.99))
}

func seconds(ms float64) string {
	if ms < 1_000 {
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.1f s", ms/1_000)
}
