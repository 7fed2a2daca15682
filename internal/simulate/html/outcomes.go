// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package html

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/simulate/result"
)

// outcomes is the table of what became of each stream's calls in each run.
type outcomes struct{ Streams []streamRows }

type streamRows struct {
	Name, About string
	Rows        []streamRow
}

type streamRow struct {
	Run, Style string
	Bar        []segment
	BarLabel   string
	// The cells of figures, in the order of the table's head.
	Offered, Succeeded, Median, P99, Max, Sends string
	// Why says why calls did not succeed.
	Why string
}

// segment is a part of a bar, in percent of the calls offered.
type segment struct {
	Class       string
	From, Width string
}

func newOutcomes(runs []run, l *left) outcomes {
	var o outcomes
	for _, key := range keys(runs[0].r.Streams, maxStreams, "streams", l) {
		s := streamRows{Name: name(key)}
		for _, r := range runs {
			st := r.r.Streams[key]
			if st == nil {
				continue
			}
			if s.About == "" {
				s.About = about(st)
			}
			s.Rows = append(s.Rows, newStreamRow(r, st))
		}
		o.Streams = append(o.Streams, s)
	}
	return o
}

func about(s *result.Stream) string {
	var parts []string
	for _, p := range []struct{ what, of string }{{"tenant", s.Tenant}, {"provider", s.Route}, {"lane", s.Lane}} {
		if p.of != "" {
			parts = append(parts, p.what+" "+name(p.of))
		}
	}
	return strings.Join(parts, ", ")
}

func newStreamRow(r run, s *result.Stream) streamRow {
	out := streamRow{
		Run: r.Name, Style: r.Style, Offered: count(s.Offered), Succeeded: part(s.Succeeded, s.Offered),
		Median: "–", P99: "–", Max: "–", Sends: count(s.Attempts), Why: why(s),
	}
	if s.Attempts > 0 {
		out.Median, out.P99, out.Max = seconds(s.Wait.P50), seconds(s.Wait.P99), seconds(s.Wait.Max)
	}
	from := 0.0
	var said []string
	for _, p := range []struct {
		class string
		n     int
	}{
		{"succeeded", s.Succeeded},
		{"deferred", s.Deferred},
		{"declined", sum(s.Declined)},
		{"failed", sum(s.Failed)},
		{"unfinished", s.Unfinished},
	} {
		if p.n <= 0 || s.Offered <= 0 {
			continue
		}
		wide := min(100*float64(p.n)/float64(s.Offered), 100-from)
		out.Bar = append(out.Bar, segment{p.class, place(from), fmt.Sprintf("%.2f", wide)})
		said = append(said, count(p.n)+" "+p.class)
		from += wide
	}
	out.BarLabel = strings.Join(said, ", ")
	return out
}

// why lists the reasons, the most frequent first.
func why(s *result.Stream) string {
	type reason struct {
		text string
		n    int
	}
	all := []reason{{"too late", s.TooLate}}
	if s.TooLate <= 0 {
		all = nil
	}
	for _, m := range []map[string]int{s.Declined, s.Failed} {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if m[key] > 0 {
				all = append(all, reason{name(key), m[key]})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b reason) int { return cmp.Compare(b.n, a.n) })
	var parts []string
	for _, r := range all[:min(len(all), maxReasons)] {
		parts = append(parts, fmt.Sprintf("%s × %s", count(r.n), r.text))
	}
	return strings.Join(parts, ", ")
}

// tenants is the table of what each tenant had.
func tenants(r *result.Result, l *left) table {
	t := table{Class: "untitled", Caption: "Tenants", Head: []string{"Tenant", "Offered", "Succeeded", "Declined", "Failed", "Used"}}
	for _, key := range keys(r.Tenants, maxTenants, "tenants", l) {
		v := r.Tenants[key]
		if v == nil {
			continue
		}
		var used []string
		for _, b := range slices.Sorted(maps.Keys(v.Used))[:min(len(v.Used), maxBudgets)] {
			used = append(used, short(v.Used[b])+" "+name(b))
		}
		t.add(name(key), count(v.Offered), part(v.Succeeded, v.Offered), part(sum(v.Declined), v.Offered),
			part(sum(v.Failed), v.Offered), strings.Join(used, ", "))
	}
	return t
}
