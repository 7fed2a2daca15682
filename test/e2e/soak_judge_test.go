// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && soak

package e2e

import (
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
	"github.com/headgate-dev/headgate/test/demo/load"
	"github.com/headgate-dev/headgate/test/soak/referee"
)

// What the judge allows: a hundredth of the amount, and what a busy machine sends late while later calls are not; how
// long after status said that an edit runs everywhere both amounts count; how long after a kill an SDK's own retries
// may still fail.
const (
	soakTolerance = 0.01
	soakLate      = 500 * time.Millisecond
	soakSettling  = 2 * time.Second
	soakEcho      = 5 * time.Second
)

// rated is what arrived for one limit, and by how much it was above the limit over the worst interval.
type rated struct {
	name                       string
	arrivals                   int
	perMinute, excess, allowed float64
	at                         time.Time
}

// judge holds what was seen to what may be.
func (s *soak) judge() {
	for _, r := range s.rates() {
		if r.excess > r.allowed {
			s.violate("%s: %.0f more than burst and rate allow at %s", r.name, r.excess, r.at.UTC().Format("15:04:05.000"))
		}
	}
	for i := range s.results.failures {
		if f := &s.results.failures[i]; s.excuse(f) == "" {
			s.violate("a call of %s failed for nothing at %s: %s: %s", f.pod,
				time.UnixMilli(f.EndedUnixMillis).UTC().Format("15:04:05.000"), f.Kind, f.Message)
		}
	}
	if s.results.unknown > 0 {
		s.violate("of %d calls nobody knows what became", s.results.unknown)
	}
	for role := range soakRuns {
		if s.results.byRole[role].OK == 0 {
			s.violate("no call of %s ended well: the run shows nothing", role)
		}
	}
	for _, m := range s.memory.trends(s.length / 2) {
		if m.late > m.early*1.25+8 {
			s.violate("%s grew from %.1f to %.1f MB", m.name, m.early, m.late)
		}
	}
}

// excuse says why a call may have failed, empty if it may not.
func (s *soak) excuse(f *podFailure) string {
	switch f.Kind {
	case load.Declined:
		return "declined by policy"
	case load.Corrupt, load.Throttled:
		return ""
	}
	for _, h := range s.happened {
		if h.loses && (h.pod == "" || h.pod == f.pod) && f.EndedUnixMillis >= h.from.UnixMilli() &&
			f.StartedUnixMillis <= h.to.Add(soakEcho).UnixMilli() {
			return "under way: " + h.what
		}
	}
	return ""
}

// rates holds arrivals to each limit.
func (s *soak) rates() []rated {
	all := s.arrivals.list()
	one := func(*fakeprovider.Arrival) float64 { return 1 }
	return []rated{
		s.rate("anthropic/requests", fakeprovider.Anthropic, soakRequests, soakRequestsBurst, all, one),
		s.rate("anthropic/input-tokens", fakeprovider.Anthropic, soakTokens, soakTokensBurst, all,
			func(a *fakeprovider.Arrival) float64 { return float64(a.InputTokens) }),
		s.rate("openai/tokens", fakeprovider.OpenAI, soakOpenAI, soakOpenAIBurst, all,
			func(a *fakeprovider.Arrival) float64 { return float64(a.InputTokens + a.AllowedTokens) }),
	}
}

func (s *soak) rate(name string, d fakeprovider.Dialect, perMinute, burst float64, all []fakeprovider.Arrival, of func(*fakeprovider.Arrival) float64) rated {
	var list []referee.Spending
	for i := range all {
		if a := &all[i]; a.Dialect == d {
			list = append(list, referee.Spending{At: time.Unix(0, a.TimeUnixNano), Cost: of(a)})
		}
	}
	account := referee.Account{PerMinute: perMinute, Burst: burst, Edits: s.edits, Settling: s.settling()}
	excess, at := account.Excess(list)
	return rated{name, len(list), perMinute, excess, soakTolerance*perMinute + perMinute/60*soakLate.Seconds(), at}
}

// settling is the longest that an edit took, kubectl and all, until status said that it runs everywhere.
func (s *soak) settling() time.Duration {
	most := soakSettling
	for _, h := range s.happened {
		if h.what == edited {
			most = max(most, h.to.Add(h.truth).Sub(h.from)+soakSettling)
		}
	}
	return most
}
