// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && soak

package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/test/demo/load"
)

// write prints the report, and puts it into a file if it has a name.
func (s *soak) write(path string) error {
	text := s.report()
	fmt.Println(text)
	if path == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

func (s *soak) report() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# Soak on the node\n")
	line("%s of load from %s, seed %d, %d lives of the provider.\n", s.ended.Sub(s.began).Round(time.Second),
		s.began.UTC().Format("2006-01-02 15:04 MST"), s.seed, s.arrivals.lives)
	s.reportCalls(line)
	s.reportHappened(line)
	line("\n## Arrivals above burst + rate × length, the most of all intervals\n")
	line("| limit | arrivals | excess | of a minute's amount | allowed |\n|---|---|---|---|---|")
	for _, r := range s.rates() {
		line("| %s | %d | %.0f | %.2f %% | %.0f |", r.name, r.arrivals, r.excess, 100*r.excess/r.perMinute, r.allowed)
	}
	line("\n## Resident memory, MB\n")
	line("| process | lived | second quarter | last quarter | most | an hour |\n|---|---|---|---|---|---|")
	for _, m := range s.memory.trends(time.Minute) {
		line("| %s | %s | %.1f | %.1f | %.1f | %+.1f |", m.name, m.length.Round(time.Second), m.early, m.late, m.most, m.perHour)
	}
	s.reportClosing(line)
	wrong := s.violations()
	line("\n## Violations: %d\n", len(wrong))
	for _, v := range wrong {
		line("- %s", v)
	}
	return b.String()
}

func (s *soak) reportCalls(line func(string, ...any)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line("## Calls\n")
	line("| role | calls | whole | declined by policy | lost | wait p50, ms | p99, ms |\n|---|---|---|---|---|---|---|")
	for _, role := range slices.Sorted(maps.Keys(s.results.byRole)) {
		r := s.results.byRole[role]
		declined := r.Failed[load.Declined]
		line("| %s | %d | %d | %d | %d | %.0f | %.0f |", role, r.Calls, r.OK, declined, r.FailedCalls()-declined,
			load.Percentile(r.WaitsMillis, 0.5), load.Percentile(r.WaitsMillis, 0.99))
	}
	why := map[string]int{}
	for i := range s.results.failures {
		f := &s.results.failures[i]
		excuse := s.excuse(f)
		if excuse == "" {
			excuse = "NO REASON"
		}
		if f.Kind != load.Declined {
			why[f.Kind+", "+excuse]++
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(why)) {
		line("\n%d calls lost: %s.", why[kind], kind)
	}
	line("\nWhole is by checksum, streams among them. Calls of which nobody knows what became: %d.", s.results.unknown)
}

func (s *soak) reportHappened(line func(string, ...any)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	back, truth := map[string][]time.Duration{}, map[string][]time.Duration{}
	for _, h := range s.happened {
		back[h.what] = append(back[h.what], h.to.Sub(h.from))
		truth[h.what] = append(truth[h.what], h.truth)
	}
	line("\n## What happened\n")
	line("| what | times | back after, most | status true after that, most |\n|---|---|---|---|")
	for _, what := range slices.Sorted(maps.Keys(back)) {
		line("| %s | %d | %s | %s |", what, len(back[what]), slices.Max(back[what]).Round(100*time.Millisecond),
			slices.Max(truth[what]).Round(100*time.Millisecond))
	}
}

func (s *soak) reportClosing(line func(string, ...any)) {
	c := &s.closing
	line("\n## At rest\n")
	line("Waiters and reservations %.6f and %.6f, %s after the last call. Levels full after %s:\n", c.waiters, c.reserved,
		c.restAfter.Round(100*time.Millisecond), c.fullAfter.Round(100*time.Millisecond))
	line("| limit | pool and gateways | full |\n|---|---|---|")
	for _, l := range c.full {
		line("| %s | %.3f | %.3f |", l.name, l.got, l.want)
	}
	line("\nA last load of %d calls without faults, %d of them whole:\n", c.calls.Calls, c.calls.OK)
	line("| limit | charged by gateways | counted by the provider |\n|---|---|---|")
	for _, name := range slices.Sorted(maps.Keys(c.arrived)) {
		line("| %s | %.2f | %.0f |", name, c.used[name], c.arrived[name])
	}
}
