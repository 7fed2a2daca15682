// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package html

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/simulate/result"
)

// page is what the template shows.
type page struct {
	Title, Subtitle string
	// Notes say what was not simulated.
	Notes    []string
	Verdict  verdict
	Runs     []run
	Compare  table
	Expect   []expectation
	Outcomes outcomes
	Waits    []*figure
	Routes   []route
	Tenants  table
	Left     []string
	Style    template.CSS
}

// run is Headgate or a baseline.
type run struct {
	Name, Note, Style string
	r                 *result.Result
}

// known are the baselines that need an explanation, in the order in which they are shown.
var known = []struct{ key, name, note string }{
	{"none", "No gateway", "every call is sent at once; a refusal is final"},
	{"sdk-exponential", "SDK retries", "no gateway; the official SDKs' two retries, 0.5 s doubling up to 8 s, Retry-After honoured"},
	{"gateway-no-lanes", "One queue", "a gateway with one first-in, first-out token bucket: no lanes, no deadlines"},
}

func runsOf(r *result.Result, l *left) []run {
	runs := []run{{Name: "Headgate", Note: "this policy", Style: "r0", r: r}}
	add := func(key, name, note string) {
		if b := r.Baselines[key]; b != nil && len(runs) <= maxBaselines {
			runs = append(runs, run{Name: name, Note: note, Style: fmt.Sprintf("r%d", len(runs)), r: b})
		}
	}
	for _, k := range known {
		add(k.key, k.name, k.note)
	}
	for _, key := range keys(r.Baselines, maxBaselines, "baselines", l) {
		if !slices.ContainsFunc(known, func(k struct{ key, name, note string }) bool { return k.key == key }) {
			add(key, name(key), "a baseline")
		}
	}
	return runs
}

type expectation struct {
	What, Got string
	OK        bool
}

func newPage(r *result.Result) *page {
	l := &left{}
	runs := runsOf(r, l)
	p := &page{
		Title: title(r), Subtitle: subtitle(r), Notes: r.Notes, Verdict: newVerdict(runs), Runs: runs, Compare: compare(runs),
		Outcomes: newOutcomes(runs, l), Tenants: tenants(r, l), Style: template.CSS(style), //nolint:gosec // embedded in this binary
	}
	for _, e := range r.Expect[:min(len(r.Expect), maxExpectations)] {
		p.Expect = append(p.Expect, expectation{What: expression(e.What), Got: figureText(e.Got), OK: e.OK})
	}
	l.add(len(r.Expect)-len(p.Expect), "expectations")
	p.Waits = waits(runs, l)
	for _, key := range keys(r.Provider, maxRoutes, "providers", l) {
		p.Routes = append(p.Routes, newRoute(key, runs, l))
	}
	draw(p, r.WarmupSeconds)
	p.Left = l.notes
	return p
}

// draw shares the points among the curves and draws them.
func draw(p *page, warmup float64) {
	figures := slices.Clone(p.Waits)
	for _, r := range p.Routes {
		figures = append(figures, r.Figures...)
	}
	curves := 0
	for _, f := range figures {
		curves += len(f.lines)
	}
	most := min(maxCurvePoints, maxPoints/max(curves, 1))
	for i, f := range figures {
		f.draw(fmt.Sprintf("plot-%d", i+1), warmup, most)
	}
}

func title(r *result.Result) string {
	if r.Policy == "" {
		return "Simulation"
	}
	return "Simulation of " + name(r.Policy)
}

func subtitle(r *result.Result) string {
	parts := []string{seconds(r.DurationSeconds) + " simulated"}
	if r.WarmupSeconds > 0 {
		parts = append(parts, "the first "+seconds(r.WarmupSeconds)+" not counted")
	}
	if r.Workload != "" {
		parts = append([]string{"workload " + name(r.Workload)}, parts...)
	}
	if r.Gateways.Count > 0 {
		parts = append(parts, plural(r.Gateways.Count, "gateway"))
	}
	return strings.Join(append(parts, fmt.Sprintf("seed %d", r.Seed)), " · ")
}

// expression clips what an expectation says, which holds a path of names.
func expression(s string) string {
	const parts = 4
	if runes := []rune(strings.ToValidUTF8(s, "\uFFFD")); len(runes) > parts*maxNameRunes {
		s = string(runes[:parts*maxNameRunes]) + "…"
	}
	return printable(s)
}

// figureText writes a figure whose unit is not known: counts whole, shares exactly enough to compare.
func figureText(v float64) string {
	if v = finite(v); v == float64(int64(v)) && v > -1e15 && v < 1e15 {
		return whole(v)
	}
	if math.Abs(v) < 1e-6 {
		return "≈ 0"
	}
	return strings.Replace(fmt.Sprintf("%.6g", v), "-", "−", 1)
}
