// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && soak

package e2e

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
	"github.com/headgate-dev/headgate/test/demo/load"
)

// guard is the part of a burst that the pools stay inside of, as docs/design/sharing.md says.
const guard = 0.05

// dust is what sums of fractions may be off by.
const dust = 1e-6

// closing is what the books said at the end, at rest.
type closing struct {
	// waiters and reserved are what was left at rest, over all gateways and the leader.
	waiters, reserved float64
	restAfter         time.Duration
	full              []level
	fullAfter         time.Duration
	// used is what the gateways charged in a last load without faults, arrived what the provider counted of it.
	used, arrived map[string]float64
	calls         load.Result
}

// level is what a limit of the account had at rest, and what it should have.
type level struct {
	name      string
	got, want float64
}

// close brings everything to rest, and compares what the ledger, the gateways and the provider say.
func (s *soak) close(t *testing.T) {
	t.Helper()
	if s.edits[len(s.edits)-1].Percent != 100 {
		for s.turn%4 != 2 {
			s.turn++
		}
		s.edit(t)
	}
	s.within(t.Context(), truthWithin, "status at the end", s.statusIsTrue)
	s.closing.restAfter, _ = s.within(t.Context(), time.Minute, "nothing waits at rest", s.atRest)
	s.closing.fullAfter, _ = s.within(t.Context(), 2*time.Minute, "all levels are full at rest", s.allFull)
	before, arrivedBefore := s.used(t), len(s.arrivals.list())
	pages := s.pages(t)
	s.closing.calls = s.lastLoad(t)
	s.within(t.Context(), time.Minute, "nothing waits after the last load", s.atRest)
	s.within(t.Context(), 30*time.Second, "all of the last load has arrived", func(ctx context.Context) error {
		if err := s.arrivals.poll(ctx); err != nil {
			return err
		}
		s.closing.arrived = cost(s.arrivals.list()[arrivedBefore:])
		s.closing.used = minus(s.used(t), before)
		for name, want := range s.closing.arrived {
			if got := s.closing.used[name]; math.Abs(got-want) > 0.01 {
				return fmt.Errorf("%s: gateways charged %.2f, the provider counted %.2f; %s", name, got, want, s.changed(t, pages))
			}
		}
		return nil
	})
	s.within(t.Context(), 2*time.Minute, "all levels are full again", s.allFull)
}

// lastLoad has every pod make a load when nothing happens.
func (s *soak) lastLoad(t *testing.T) load.Result {
	t.Helper()
	all, err := s.livePods(t.Context())
	if err != nil {
		s.violate("%v", err)
	}
	for i := range all {
		run := soakRuns[roleOf(all[i].Name)]
		run.Seconds = 10
		if err := load.Post(t.Context(), appURL(&all[i])+"/run", run, nil); err != nil {
			s.violate("the last load: %v", err)
		}
	}
	var out []load.Result
	for i := range all {
		out = append(out, loadEnded(t, &all[i]))
	}
	r := load.Merge(out)
	if r.OK != r.Calls || r.Calls == 0 {
		s.violate("the last load: %d of %d calls ended well: %v", r.OK, r.Calls, r.Failures)
	}
	return r
}

// cost is what arrivals cost each limit.
func cost(list []fakeprovider.Arrival) map[string]float64 {
	out := map[string]float64{}
	for i := range list {
		switch a := &list[i]; a.Dialect {
		case fakeprovider.Anthropic:
			out["anthropic/requests"]++
			out["anthropic/input-tokens"] += float64(a.InputTokens)
		case fakeprovider.OpenAI:
			out["openai/tokens"] += float64(a.InputTokens + a.AllowedTokens)
		}
	}
	return out
}

func minus(a, b map[string]float64) map[string]float64 {
	out := map[string]float64{}
	for name := range a {
		out[name] = a[name] - b[name]
	}
	return out
}

// atRest holds when no call waits, holds anything or was asked for.
func (s *soak) atRest(ctx context.Context) error {
	var waiters, reserved float64
	count := func(m metricsText) {
		waiters += m.sum("headgate_queue_depth") + m.sum("headgate_limit_waiting") + m.sum("headgate_pool_waiting")
		reserved += m.sum("headgate_reserved")
	}
	if err := s.eachGateway(ctx, count); err != nil {
		return err
	}
	leader, err := s.leaderMetrics(ctx)
	if err != nil {
		return err
	}
	count(leader)
	s.closing.waiters, s.closing.reserved = waiters, reserved
	if waiters > dust || reserved > dust {
		return fmt.Errorf("%v wait, %v are reserved", waiters, reserved)
	}
	return nil
}

// allFull holds when the account's pools have all that they may hold, to the token, and the provider's buckets too:
// nothing has leaked, and nothing is owed.
func (s *soak) allFull(ctx context.Context) error {
	m, err := s.leaderMetrics(ctx)
	if err != nil {
		return err
	}
	s.closing.full = nil
	for name, burst := range map[string]float64{"requests": soakRequestsBurst, "input-tokens": soakTokensBurst} {
		l := level{name: name, want: burst * (1 - guard)}
		for _, part := range []string{"headgate_pool_level", "headgate_pool_held", "headgate_pool_unknown"} {
			l.got += m.sum(part, `account="`+s.account+`"`, `limit="`+name+`"`)
		}
		s.closing.full = append(s.closing.full, l)
		if math.Abs(l.got-l.want) > 1e-3 {
			return fmt.Errorf("%s: the pool and its gateways have %.3f of %.3f", name, l.got, l.want)
		}
	}
	return s.providerFull(ctx)
}

func (s *soak) providerFull(ctx context.Context) error {
	var stats fakeprovider.Stats
	if err := get(ctx, s.arrivals.admin+"/_fake/stats", &stats); err != nil {
		return err
	}
	for _, a := range stats.Accounts {
		if a.KeyHash != fakeprovider.KeyHash(s.u.key) {
			continue
		}
		for _, b := range a.Budgets {
			if b.Level != b.Burst {
				return fmt.Errorf("the provider's %s has %.3f of %.3f", b.Budget, b.Level, b.Burst)
			}
		}
	}
	return nil
}
