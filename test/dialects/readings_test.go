// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dialects

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/explain"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/testing/fixtures"
)

var received = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)

func operationOf(d dialect.Dialect, f fixtures.Fixture) (dialect.Operation, string, bool) {
	if f.Request == nil {
		return dialect.Operation{}, "", false
	}
	u, err := url.ParseRequestURI(f.Request.Start[1])
	if err != nil {
		return dialect.Operation{}, "", false
	}
	op := d.Operation(f.Request.Start[0], u.EscapedPath())
	op.Stream = op.Stream || d.ReadRequest(op, f.Request.Header.Get("Content-Type"), f.Request.Body).Stream
	return op, d.Path(u.EscapedPath()), true
}

// metered are the paths whose calls are charged for tokens.
func metered(d dialect.Dialect, file []fixtures.Fixture) (out []string) {
	for _, f := range file {
		op, path, ok := operationOf(d, f)
		if path = code(withoutModel(path, op.Model)); ok && op.Metered && !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

// withoutModel puts MODEL in the place of a path's model.
func withoutModel(path, model string) string {
	if model == "" {
		return path
	}
	for _, text := range []string{model, url.PathEscape(model), strings.NewReplacer(":", "%3A", "/", "%2F").Replace(model)} {
		if strings.Contains(path, "/"+text) {
			return strings.Replace(path, "/"+text, "/MODEL", 1)
		}
	}
	return path
}

// usage says which counts documents and streams of each format report.
func usage(d dialect.Dialect, file []fixtures.Fixture) (out []string) {
	found := map[string]map[string]bool{}
	for _, f := range file {
		op, _, ok := operationOf(d, f)
		if !ok || f.Response == nil || f.Response.Status()/100 != 2 {
			continue
		}
		r := explain.Read(d, response(f), op)
		kind := "document"
		if r.Stream || op.Stream {
			kind = "stream"
		}
		for _, count := range counts(r.Usage) {
			if found[kind] == nil {
				found[kind] = map[string]bool{}
			}
			found[kind][count] = true
		}
	}
	for _, kind := range []string{"document", "stream"} {
		var names []string
		for _, name := range countNames {
			if found[kind][name] {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			out = append(out, "a "+kind+" reports "+strings.Join(names, ", "))
		}
	}
	return out
}

var countNames = []string{"input", "output", "cached reads (inside input)", "cached reads (beside input)", "cache writes", "reasoning"}

func counts(u dialect.Usage) (out []string) {
	add := func(v int64, name string) {
		if v >= 0 {
			out = append(out, name)
		}
	}
	add(u.Input, "input")
	add(u.Output, "output")
	if u.CacheOutside {
		add(u.CachedRead, "cached reads (beside input)")
	} else {
		add(u.CachedRead, "cached reads (inside input)")
	}
	add(u.CacheWrite, "cache writes")
	add(u.Reasoning, "reasoning")
	return out
}

func response(f fixtures.Fixture) explain.Response {
	return explain.Response{Status: f.Response.Status(), Header: f.Response.Header, Body: f.Response.Body, Received: received}
}

// budgets tells which header holds what of each budget: what a reading lacks without the header. Those that every
// dialect reads are left to the document's beginning.
func budgets(d dialect.Dialect, file []fixtures.Fixture) string {
	byBudget, others := map[string][3]string{}, map[string]string{}
	for _, f := range file {
		if f.Response == nil {
			continue
		}
		whole := explain.Read(d, response(f)).Reading
		for _, name := range slices.Sorted(maps.Keys(f.Response.Header)) {
			if everywhere[name] {
				continue
			}
			r := response(f)
			r.Header = f.Response.Header.Clone()
			r.Header.Del(name)
			what, budget := difference(whole, explain.Read(d, r).Reading)
			switch {
			case what >= 0 && budget != "":
				row := byBudget[budget]
				row[what] = cmp.Or(row[what], code(strings.ToLower(name))) // older names come after in fixtures
				byBudget[budget] = row
			case budget != "":
				others[code(strings.ToLower(name))] = budget
			}
		}
	}
	return budgetTable(byBudget, others)
}

func budgetTable(byBudget map[string][3]string, others map[string]string) string {
	rows := [][]string{{"budget", "limit", "remaining", "reset"}}
	for _, budget := range slices.Sorted(maps.Keys(byBudget)) {
		row := byBudget[budget]
		rows = append(rows, []string{budget, cmp.Or(row[0], "-"), cmp.Or(row[1], "-"), cmp.Or(row[2], "-")})
	}
	out := ""
	if len(rows) > 1 {
		out = table(rows) + "\n"
	}
	for _, name := range slices.Sorted(maps.Keys(others)) {
		if !strings.Contains(out, name) {
			out += name + " gives " + others[name] + ".\n\n"
		}
	}
	return out
}

// everywhere are the headers that mean the same with all dialects.
var everywhere = map[string]bool{
	"Date": true, "Retry-After": true, "Retry-After-Ms": true, "X-Ms-Retry-After-Ms": true, "X-Amz-Retry-After": true,
	"Ratelimit": true, "Ratelimit-Policy": true, "X-Should-Retry": true, "Content-Type": true, "Content-Encoding": true,
}

// difference is the one value of a budget that only the whole reading has: 0 its limit, 1 what remains, 2 its reset.
// What takes several values away, or changes another thing, is -1 and words.
func difference(whole, without dialect.Reading) (what int, budget string) {
	before, after := values(whole), values(without)
	lost := map[string]int{}
	for name, set := range before {
		for i := range set {
			if set[i] && !after[name][i] {
				lost[name], what = lost[name]+1, i
				budget = name
			}
		}
	}
	switch {
	case len(lost) == 0 && reflect.DeepEqual(whole, without):
		return -1, ""
	case len(lost) == 1 && lost[budget] == 1:
		return what, budget
	case len(lost) == 1 && len(before) == len(after):
		return -1, "the window of " + strings.Split(budget, " per ")[0]
	}
	return -1, "the meaning of the others"
}

// values says which values a reading has of each budget.
func values(r dialect.Reading) map[string][3]bool {
	out := map[string][3]bool{}
	for _, b := range r.Budgets {
		out[budgetWords(b)] = [3]bool{b.Limit >= 0, b.Remaining >= 0, b.HasReset}
	}
	return out
}

func budgetWords(b dialect.BudgetReading) string {
	e := explain.Reading{Reading: dialect.Reading{Budgets: []dialect.BudgetReading{b}}}.Expectation().Budgets[0]
	name := strings.ReplaceAll(e.Name, "_", " ")
	if e.Window != "unknown" {
		name += " per " + e.Window
	}
	return name
}

// failures says what each recorded failure is taken for.
func failures(d dialect.Dialect, file []fixtures.Fixture) [][]string {
	rows := [][]string{{"answer", "code", "is", "its wait is in"}}
	seen := map[string]bool{}
	for _, f := range file {
		if f.Response == nil {
			continue
		}
		var ops []dialect.Operation
		if op, _, ok := operationOf(d, f); ok {
			ops = append(ops, op)
		}
		r := explain.Read(d, response(f), ops...)
		if r.Class == dialect.ClassSuccess {
			continue
		}
		e := r.Expectation()
		row := []string{answer(f, r), codeOf(r.Failure.Code), strings.ReplaceAll(e.Class, "_", " "), sourceWords(e.Source)}
		if key := strings.Join(row[:3], "|"); !seen[key] {
			seen[key] = true
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows[1:], func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
	return rows
}

func answer(f fixtures.Fixture, r explain.Reading) string {
	if r.InStream {
		return fmt.Sprintf("error event in a %d stream", f.Response.Status())
	}
	status := f.Response.Status()
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}

func codeOf(text string) string {
	if text == "" {
		return "-"
	}
	return code(text)
}

func sourceWords(source string) string {
	switch source {
	case "none":
		return "-"
	case "body-hint":
		return "the body"
	case "reset-header":
		return "a reset header"
	case "retry-after-ms":
		return "a header in ms"
	default:
		return "`retry-after`"
	}
}
