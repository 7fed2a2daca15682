// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package text

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/headgate-dev/headgate/internal/simulate/result"
)

// Write writes the summary.
func Write(w io.Writer, r *result.Result) error {
	p := &page{}
	p.title(r)
	p.streams(r)
	for _, route := range sorted(r.Provider) {
		p.provider(route, r.Provider[route])
	}
	p.fleet(r)
	p.tenants(r)
	p.baselines(r)
	p.expectations(r)
	_, err := io.WriteString(w, p.String())
	return err
}

// page is the text so far.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { _, _ = fmt.Fprintf(p, format+"\n", args...) }

// table aligns rows.
func (p *page) table(rows [][]string) {
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		_, _ = fmt.Fprintln(t, "  "+strings.Join(row, "\t")) // a Builder never fails
	}
	_ = t.Flush()
	for line := range strings.Lines(text.String()) {
		p.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func (p *page) title(r *result.Result) {
	measured := ""
	if r.WarmupSeconds > 0 {
		measured = ", measured after " + span(r.WarmupSeconds)
	}
	p.line("%s under %s: %s of simulated time%s, seed %d.", cmp.Or(r.Workload, "The workload"),
		strings.TrimSpace("policy "+r.Policy), span(r.DurationSeconds), measured, r.Seed)
	for _, note := range r.Notes {
		p.line("%s", note)
	}
}

func (p *page) streams(r *result.Result) {
	p.line("\nCalls")
	rows := [][]string{{"STREAM", "OFFERED", "SUCCEEDED", "DECLINED", "DEFERRED", "FAILED", "UNFINISHED", "SENDS", "WAIT P50", "P99", "MAX"}}
	for _, name := range sorted(r.Streams) {
		s := r.Streams[name]
		rows = append(rows, []string{
			name, count(s.Offered), count(s.Succeeded), total(s.Declined), count(s.Deferred), total(s.Failed),
			count(s.Unfinished), count(s.Attempts), wait(s, s.Wait.P50), wait(s, s.Wait.P99), wait(s, s.Wait.Max),
		})
	}
	p.table(rows)
	for _, name := range sorted(r.Streams) {
		p.notes(name, r.Streams[name])
	}
}

// notes say of a stream what its row does not.
func (p *page) notes(name string, s *result.Stream) {
	if n := sum(s.Declined); n > 0 {
		told := "at once"
		if s.Decline.P99 >= atOnce {
			told = "within " + seconds(s.Decline.P99)
		}
		p.line("  %s: %s; 99%% were told %s.", name, reasons("declined for", s.Declined), told)
	}
	if len(s.Failed) > 0 {
		p.line("  %s: %s.", name, reasons("failed with", s.Failed))
	}
	if s.Deferred > 0 {
		p.line("  %s: %s of %s deferred calls were made by the end.", name, count(s.DeferredDone), count(s.Deferred))
	}
	if s.FailedOver > 0 {
		p.line("  %s: %s succeeded at another provider.", name, count(s.FailedOver))
	}
	if s.TooLate > 0 {
		p.line("  %s: %s of those that succeeded began after their deadline.", name, count(s.TooLate))
	}
	if s.Resubmitted > 0 {
		p.line("  %s: SDKs offered %s calls again.", name, count(s.Resubmitted))
	}
	if s.Told > 0 {
		how := "none came back before that"
		if s.EarliestSendMinusFloor < 0 {
			how = "the earliest came back " + seconds(-s.EarliestSendMinusFloor) + " too early"
		}
		p.line("  %s: after %s of its sends the provider said when to come back; %s.", name, count(s.Told), how)
	}
}

func (p *page) provider(route string, s *result.Provider) {
	p.line("\nProvider %s: %s sends, %s answered 429 and %s 529, at most %s within 100ms.",
		route, count(s.Sends), count(s.Rejected429), count(s.Rejected529), count(s.PeakPer100ms))
	if len(s.Budgets) == 0 {
		p.line("  It has no limits.")
	}
	rows := [][]string{{"BUDGET", "ALLOWS", "USED", "UTILISATION", "EXCESS", "DEBT"}}
	for _, name := range sorted(s.Budgets) {
		b := s.Budgets[name]
		rows = append(rows, []string{name, amount(b.Amount) + windows[b.WindowSeconds], amount(b.Used), percent(b.Utilisation), amount(b.MaxExcess), amount(b.MaxDebt)})
	}
	if len(rows) > 1 {
		p.table(rows)
	}
	for _, name := range sorted(s.Budgets) {
		if b := s.Budgets[name]; b.Outsiders > 0 {
			p.line("  Others used %s of %s.", amount(b.Outsiders), name)
		}
	}
	p.lanes(s)
}

func (p *page) lanes(s *result.Provider) {
	if len(s.Lanes) == 0 {
		return
	}
	rows := [][]string{{"LANE", "SHARE", "ADMITTED", "REFUSED", "QUEUED", "LONGEST WAIT", "LARGEST CALL WITHIN", "LATER THAN ALONE"}}
	for _, name := range sorted(s.Lanes) {
		l := s.Lanes[name]
		promised := "-"
		if l.LargestSeconds > 0 {
			promised = seconds(l.LargestSeconds)
		}
		rows = append(rows, []string{
			name, percent(l.Share), count(l.Admitted), count(l.Refused), count(l.QueuedAtMost), seconds(l.LongestWait), promised,
			seconds(l.LatenessMax),
		})
	}
	p.table(rows)
}

func (p *page) fleet(r *result.Result) {
	g := r.Gateways
	if g.Count <= 1 && g.Crashes == 0 && g.GrantsBurned == 0 {
		return
	}
	p.line("\nGateways: %s at the end, %s crashes, %s grants burned.", count(g.Count), count(g.Crashes), count(g.GrantsBurned))
	for _, limit := range sorted(g.Burned) {
		p.line("  %s of %s", amount(g.Burned[limit]), limit)
	}
}

func (p *page) tenants(r *result.Result) {
	if len(r.Tenants) < 2 {
		return
	}
	p.line("\nTenants")
	rows := [][]string{{"TENANT", "OFFERED", "SUCCEEDED", "DECLINED", "FAILED", "INPUT TOKENS"}}
	for _, name := range sorted(r.Tenants) {
		t := r.Tenants[name]
		rows = append(rows, []string{
			name, count(t.Offered), count(t.Succeeded), total(t.Declined), total(t.Failed), amount(t.Used["InputTokens"]),
		})
	}
	p.table(rows)
}

func (p *page) expectations(r *result.Result) {
	if len(r.Expect) == 0 {
		return
	}
	p.line("\nExpected")
	for _, e := range r.Expect {
		verdict := "ok    "
		if !e.OK {
			verdict = "FAILED"
		}
		p.line("  %s  %s, got %s", verdict, e.What, exact(e.Got))
	}
}
