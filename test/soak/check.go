// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
	"github.com/headgate-dev/headgate/test/soak/referee"
)

const (
	// restWithin is how soon everything is given back after the last call.
	restWithin = 10 * time.Second
	// closedWithin is how soon connections to a provider that is gone are closed.
	closedWithin = 20 * time.Second
	// spareGoroutines and spareFiles may be more at the end than before the first call: pollers, a cached
	// descriptor.
	spareGoroutines, spareFiles = 4, 4
)

// checkRest sees that nothing is held when no call is under way: no slot, no reservation, no waiter; and when
// the provider has gone, no connection and no goroutine either.
func (s *soak) checkRest(ctx context.Context) {
	for _, g := range s.gateways {
		now, ok := s.until(ctx, g, restWithin, func(now *sample) bool {
			return now.reserved == 0 && now.queued == 0 && now.oldest == 0 && now.inUse == 0
		})
		if !ok {
			s.book.violate("%s at rest: %v reserved, %v queued, the oldest for %v s, %v slots in use",
				g.name, now.reserved, now.queued, now.oldest, now.inUse)
		}
		if now.offered > now.ended {
			s.book.violate("%s at rest: %v calls came and %v ended", g.name, now.offered, now.ended)
		}
		history := g.policy.history()
		if want := float64(burstTokens * history[len(history)-1].Percent / 100); now.capacity != want {
			s.book.violate("%s: its last policy allows a burst of %v tokens, not %v", g.name, want, now.capacity)
		}
	}
}

// checkClosed sees that nothing is left of the load once the provider is gone.
func (s *soak) checkClosed(ctx context.Context) {
	s.provider.end(syscall.SIGTERM)
	for _, g := range s.gateways {
		before := s.rest[g.name]
		now, ok := s.until(ctx, g, closedWithin, func(now *sample) bool {
			return now.goroutines <= before.goroutines+spareGoroutines && now.files <= before.files+spareFiles
		})
		if !ok {
			s.book.violate("%s: %v goroutines and %v files after the load, %v and %v before it",
				g.name, now.goroutines, now.files, before.goroutines, before.files)
		}
		g.mu.Lock()
		g.samples = append(g.samples, now)
		g.mu.Unlock()
	}
}

// until samples until ok or the time is over.
func (s *soak) until(ctx context.Context, g *gateway, within time.Duration, ok func(*sample) bool) (now sample, good bool) {
	var err error
	for deadline := time.Now().Add(within); ; {
		now, err = g.take(ctx, s.client)
		if err == nil && ok(&now) {
			return now, true
		}
		if time.Now().After(deadline) || !pause(ctx, 200*time.Millisecond) {
			return now, false
		}
	}
}

// growth compares the medians of a figure in the first half of a run, after it has warmed up, and at its end.
type growth struct{ warm, end float64 }

func (g *gateway) growth(figure func(*sample) float64) growth {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := len(g.samples)
	part := func(from, to int) float64 {
		var v []float64
		for i := n * from / 100; i < n*to/100; i++ {
			v = append(v, figure(&g.samples[i]))
		}
		if len(v) == 0 {
			return 0
		}
		slices.Sort(v)
		return v[len(v)/2]
	}
	return growth{part(20, 50), part(70, 100)}
}

// within says whether the figure stayed as it was, by a factor and what is left to chance.
func (g growth) within(factor, spare float64) bool { return g.end <= g.warm*factor+spare }

// conclude judges the whole run and prints the report.
func (s *soak) conclude(ctx context.Context) error {
	r := &report{s: s, growth: map[string]map[string]growth{}}
	arrivals, played, err := s.provider.finish(ctx)
	if err != nil {
		return err
	}
	if s.o.keep != "" {
		if err := writeArrivals(s.o.keep, arrivals); err != nil {
			return err
		}
	}
	r.arrivals, r.played = arrivals, played
	s.checkGrowth(r)
	s.checkClosed(ctx)
	for _, g := range s.gateways {
		s.checkArrivals(r, g)
	}
	s.checkMeaning(r)
	return r.print(os.Stdout)
}

func writeArrivals(dir string, arrivals []fakeprovider.Arrival) error {
	raw, err := json.Marshal(arrivals)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "arrivals.json"), raw, 0o600)
}

// checkGrowth holds the gateway that was never killed to what it was after its warm-up.
func (s *soak) checkGrowth(r *report) {
	for _, g := range s.gateways {
		if g.mortal {
			continue
		}
		rss := g.growth(func(s *sample) float64 { return s.rss / 1e6 })
		goroutines := g.growth(func(s *sample) float64 { return s.goroutines })
		files := g.growth(func(s *sample) float64 { return s.files })
		r.growth[g.name] = map[string]growth{"RSS, MB": rss, "goroutines": goroutines, "open files": files}
		if !rss.within(1.25, 8) {
			s.book.violate("%s: RSS grew from %.1f to %.1f MB", g.name, rss.warm, rss.end)
		}
		if !goroutines.within(1.5, 50) || !files.within(1.5, 30) {
			s.book.violate("%s: goroutines grew from %.0f to %.0f, open files from %.0f to %.0f",
				g.name, goroutines.warm, goroutines.end, files.warm, files.end)
		}
	}
}

// tolerance is ε of the promise: a hundredth of the amount, for settlements and clocks; and what a send may
// be late on a busy machine while later ones are not.
const (
	tolerance = 0.01
	lateSend  = 500 * time.Millisecond
)

// checkArrivals holds what one gateway sent to its limits, waits and quotas.
func (s *soak) checkArrivals(r *report, g *gateway) {
	var mine []fakeprovider.Arrival
	for i := range r.arrivals {
		if r.arrivals[i].KeyHash == fakeprovider.KeyHash(g.key) {
			mine = append(mine, r.arrivals[i])
		}
	}
	edits, lives := g.policy.history(), g.lives()
	for _, d := range []fakeprovider.Dialect{fakeprovider.Anthropic, fakeprovider.OpenAI} {
		of := slices.DeleteFunc(slices.Clone(mine), func(a fakeprovider.Arrival) bool { return a.Dialect != d })
		tokens := func(a *fakeprovider.Arrival) int64 { return a.InputTokens }
		if d == fakeprovider.OpenAI {
			tokens = func(a *fakeprovider.Arrival) int64 { return a.InputTokens + a.AllowedTokens }
		}
		r.rate(g, d, "requests", &referee.Account{PerMinute: requestsPerMinute, Burst: burstRequests, Edits: edits, Settling: settling, Lives: lives}, costs(of, nil))
		r.rate(g, d, "tokens", &referee.Account{PerMinute: tokensPerMinute, Burst: burstTokens, Edits: edits, Settling: settling, Lives: lives}, costs(of, tokens))
	}
	w := checkWaits(mine, g.killedWithin)
	r.guided += w.guided
	if r.least == 0 || w.least < r.least {
		r.least = w.least
	}
	exhausted, wrong := checkQuota(mine, g.killedWithin)
	r.exhausted += exhausted
	for _, text := range append(w.early, wrong...) {
		s.book.violate("%s: %s", g.name, text)
	}
	for i := range mine {
		if mine[i].Verdict == "Throttled" {
			r.throttled++
		}
		if mine[i].Status == http.StatusTooManyRequests {
			r.tooMany++
		}
	}
}

// nearPercent of the amount is how near at least one limit must have come to its bound; what is held for an
// idle lane, some four percent, is kept back.
const nearPercent = -8

// checkMeaning sees that the run had something to show: a soak in which nothing happened proves nothing.
func (s *soak) checkMeaning(r *report) {
	for _, outcome := range []string{whole, broken, declined, passedOn, left} {
		if s.book.total(outcome) == 0 {
			s.book.violate("no call ended as %q: the run shows nothing", outcome)
		}
	}
	for _, m := range misdeeds("") {
		for _, f := range m.faults {
			if r.played[f.Kind] == 0 {
				s.book.violate("the provider never played %s", f.Kind)
			}
		}
	}
	if near := slices.MaxFunc(r.rates, func(a, b rated) int { return cmp.Compare(a.percentOfAmount, b.percentOfAmount) }); near.percentOfAmount < nearPercent {
		s.book.violate("no limit was nearly used up (%s: %.1f %%): the run shows nothing", near.name, near.percentOfAmount)
	}
	if r.guided == 0 || r.exhausted == 0 {
		s.book.violate("%d waits and %d exhausted quotas: the run shows nothing", r.guided, r.exhausted)
	}
	for _, g := range s.gateways {
		if g.mortal && len(g.down) == 0 {
			s.book.violate("%s was never killed", g.name)
		}
	}
	if s.provider.lives < 2 {
		s.book.violate("the provider was never restarted")
	}
}
