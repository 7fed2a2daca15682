// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
	"github.com/headgate-dev/headgate/test/soak/referee"
)

// report is what a run found.
type report struct {
	s         *soak
	arrivals  []fakeprovider.Arrival
	played    map[fakeprovider.FaultKind]int64
	growth    map[string]map[string]growth
	rates     []rated
	guided    int
	least     time.Duration
	exhausted int
	// throttled are refusals by a bucket of the provider, tooMany all 429s.
	throttled, tooMany int
}

// rated is the excess of one gateway over one limit.
type rated struct {
	name            string
	arrivals        int
	excess, allowed float64
	percentOfAmount float64
}

// rate holds arrivals to a limit.
func (r *report) rate(g *gateway, d fakeprovider.Dialect, limit string, a *referee.Account, arrivals []referee.Spending) {
	excess, at := a.Excess(arrivals)
	allowed := tolerance*a.PerMinute + a.PerMinute/60*lateSend.Seconds()
	name := fmt.Sprintf("%s, %s %s", g.name, d, limit)
	r.rates = append(r.rates, rated{name, len(arrivals), excess, allowed, 100 * excess / a.PerMinute})
	if excess > allowed {
		r.s.book.violate("%s: %.0f more than burst and rate allow (ε allows %.0f), at %s",
			name, excess, allowed, at.UTC().Format("15:04:05.000"))
	}
}

// violationsError says that the report shows violations.
type violationsError int

// Error implements error.
func (n violationsError) Error() string { return fmt.Sprintf("%d violations", int(n)) }

// section is a part of the report whose columns are aligned among themselves.
type section struct{ tw *tabwriter.Writer }

func (t section) line(format string, args ...any) { _, _ = fmt.Fprintf(t.tw, format+"\n", args...) }

func (r *report) print(w io.Writer) error {
	b := r.s.book
	b.mu.Lock()
	defer b.mu.Unlock()
	_, _ = fmt.Fprintf(w, "\nsoak of %s\n", r.s.o.duration)
	for _, print := range []func(section){r.printCalls, r.printReasons, r.printProvider, r.printRates, r.printGrowth} {
		t := section{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
		t.line("")
		print(t)
		if err := t.tw.Flush(); err != nil {
			return err
		}
	}
	_, _ = fmt.Fprintf(w, "\nviolations: %d\n", b.wrongs)
	for _, text := range b.wrong {
		_, _ = fmt.Fprintln(w, "  "+text)
	}
	if b.wrongs > 0 {
		return violationsError(b.wrongs)
	}
	return nil
}

func (r *report) printCalls(t section) {
	b := r.s.book
	head := "calls"
	for _, g := range r.s.gateways {
		head += "\t" + g.name
	}
	t.line("%s\ttook p50\tp99", head)
	for _, outcome := range outcomes {
		row := "  " + outcome
		for _, g := range r.s.gateways {
			row += fmt.Sprintf("\t%d", b.outcomes[g.name][outcome])
		}
		took := b.took[outcome]
		t.line("%s\t%s\t%s", row, percentile(took, 0.5).Round(time.Millisecond), percentile(took, 0.99).Round(time.Millisecond))
	}
}

func (r *report) printReasons(t section) {
	t.line("why\tcalls")
	for _, reason := range slices.Sorted(maps.Keys(r.s.book.reasons)) {
		t.line("  %s\t%d", reason, r.s.book.reasons[reason])
	}
	if r.s.book.skipped > 0 {
		t.line("  not made, too many at once\t%d", r.s.book.skipped)
	}
}

func (r *report) printProvider(t section) {
	t.line("provider, in %d lives\t", r.s.provider.lives)
	t.line("  arrivals\t%d", len(r.arrivals))
	t.line("  429s, of which by a bucket\t%d, %d", r.tooMany, r.throttled)
	t.line("  waits stated and kept\t%d, the least margin %s", r.guided, r.least)
	t.line("  quotas exhausted\t%d", r.exhausted)
	for _, kind := range slices.Sorted(maps.Keys(r.played)) {
		t.line("  fault %s\t%d", kind, r.played[kind])
	}
	for _, g := range r.s.gateways {
		t.line("  %s\t%d edits, %d kills", g.name, g.policy.count-1, len(g.down))
	}
}

func (r *report) printRates(t section) {
	t.line("arrivals - (burst + rate × length), the most of all intervals\tarrivals\texcess\tof the amount\tallowed")
	for _, e := range r.rates {
		t.line("  %s\t%d\t%.0f\t%.2f %%\t%.0f", e.name, e.arrivals, e.excess, e.percentOfAmount, e.allowed)
	}
}

func (r *report) printGrowth(t section) {
	for name, figures := range r.growth {
		t.line("%s\tafter warm-up\tat the end", name)
		for _, figure := range slices.Sorted(maps.Keys(figures)) {
			t.line("  %s\t%.4g\t%.4g", figure, figures[figure].warm, figures[figure].end)
		}
	}
}
