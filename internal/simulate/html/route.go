// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package html

import (
	"fmt"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/simulate/result"
)

// route is what the page shows of a provider.
type route struct {
	Name    string
	Figures []*figure
	Budgets table
	Lanes   table
	// Quiet says what is not drawn because there was none of it.
	Quiet string
}

func newRoute(key string, runs []run, l *left) route {
	out := route{Name: name(key)}
	out.Figures = append(out.Figures, levels(key, runs, l)...)
	out.Figures = append(out.Figures, queues(key, runs)...)
	for _, kind := range []struct {
		of            result.Of
		heading, desc string
	}{
		{result.OfThrottled, "429s", "Refusals by the provider for lack of budget, a second."},
		{result.OfOverloaded, "529s", "Refusals by the provider for overload, a second."},
		{result.OfSends, "Sends", "Requests that reached the provider, a second."},
	} {
		f := rates(key, runs, kind.of)
		if f == nil {
			if kind.of != result.OfSends {
				out.quiet(kind.heading)
			}
			continue
		}
		f.Heading, f.desc = kind.heading, kind.desc
		out.Figures = append(out.Figures, f)
	}
	if f := declines(key, runs[0]); f != nil {
		out.Figures = append(out.Figures, f)
	}
	out.Budgets = budgets(key, runs, l)
	out.Lanes = lanes(key, runs[0], l)
	return out
}

func (r *route) quiet(what string) {
	if r.Quiet == "" {
		r.Quiet = "No " + what
	} else {
		r.Quiet += " and no " + what
	}
}

// seriesOf are a run's curves of a kind on a route, by key.
func seriesOf(r run, of result.Of, route string) []result.Series {
	var out []result.Series
	for _, s := range r.r.Series {
		if s.Of == of && s.Route == route && len(s.Points) > 0 {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b result.Series) int {
		switch {
		case a.Key < b.Key:
			return -1
		case a.Key > b.Key:
			return 1
		}
		return 0
	})
	return out
}

// levels has a plot for each budget.
func levels(route string, runs []run, l *left) []*figure {
	var out []*figure
	all := seriesOf(runs[0], result.OfLevel, route)
	l.add(len(all)-maxBudgets, "levels of "+name(route))
	for _, s := range all[:min(len(all), maxBudgets)] {
		f := &figure{
			Heading: "Level of " + name(s.Key), yLabel: unitOf(s.Key) + " left at the provider", ceiling: finite(s.Ceiling), end: runs[0].r.DurationSeconds,
			desc: "What the provider's bucket holds over time.", CeilingName: "burst",
		}
		for _, r := range runs {
			for _, other := range seriesOf(r, result.OfLevel, route) {
				if other.Key == s.Key {
					f.add(line{name: r.Name, style: r.Style, points: other.Points})
				}
			}
		}
		out = append(out, f)
	}
	return out
}

// unitOf says what a budget counts.
func unitOf(budget string) string {
	switch kind, _, _ := strings.Cut(budget, "/"); {
	case kind == "Requests":
		return "requests"
	case kind == "InFlight":
		return "slots"
	case strings.HasSuffix(kind, "Tokens"):
		return "tokens"
	}
	return "units"
}

// queues is the plot of what waits: Headgate's by lane, a baseline's in all.
func queues(route string, runs []run) []*figure {
	f := &figure{
		Heading: "Queue by lane", yLabel: "calls waiting", end: runs[0].r.DurationSeconds, over: theMost,
		desc: "How many calls wait in each lane over time.",
	}
	for i, r := range runs {
		for j, s := range seriesOf(r, result.OfQueue, route) {
			if i > 0 && largest(s) == 0 {
				continue
			}
			l := line{name: r.Name, style: r.Style, points: s.Points}
			if i == 0 {
				l.name, l.style = "lane "+laneName(s.Key), fmt.Sprintf("k%d", j%maxCurves)
			} else if s.Key != "" {
				l.name += ": " + name(s.Key)
			}
			f.add(l)
		}
	}
	if len(f.lines) == 0 {
		return nil
	}
	return []*figure{f}
}

func laneName(key string) string {
	if key == "" {
		return "all"
	}
	return name(key)
}

// rates is a plot of a kind of event a second in all runs; nil if there was none of it in any.
func rates(route string, runs []run, of result.Of) *figure {
	f := &figure{yLabel: "per second", end: runs[0].r.DurationSeconds, over: theMean}
	seen := false
	for _, r := range runs {
		for _, s := range seriesOf(r, of, route) {
			seen = seen || largest(s) > 0
			f.add(line{name: r.Name, style: r.Style, points: s.Points})
		}
	}
	if !seen {
		return nil
	}
	return f
}

// declines is a plot of what Headgate refused, by stream.
func declines(route string, r run) *figure {
	f := &figure{
		Heading: "Declined by Headgate", yLabel: "per second", end: r.r.DurationSeconds, over: theMean,
		desc: "Calls that Headgate refused itself, a second, by stream.",
	}
	for _, s := range seriesOf(r, result.OfDeclined, route) {
		if largest(s) > 0 {
			f.add(line{name: laneName(s.Key), style: fmt.Sprintf("k%d", len(f.lines)), points: s.Points})
		}
	}
	if len(f.lines) == 0 {
		return nil
	}
	return f
}

func largest(s result.Series) float64 {
	v := 0.0
	for _, p := range s.Points {
		v = max(v, finite(p.Value))
	}
	return v
}
