// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"
)

// counts are what happened since the start or the last reset.
type counts struct {
	calls     int64
	admitted  int64
	throttled int64
	byStatus  map[string]int64
	faults    map[FaultKind]int64
}

func newCounts() counts {
	return counts{byStatus: map[string]int64{}, faults: map[FaultKind]int64{}}
}

func (s *Server) countStatus(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.byStatus[strconv.Itoa(status)]++
}

// Stats are a provider's figures.
type Stats struct {
	AtUnixNano int64               `json:"atUnixNano"`
	Calls      int64               `json:"calls"`
	Admitted   int64               `json:"admitted"`
	Throttled  int64               `json:"throttled"`
	InFlight   int                 `json:"inFlight"`
	ByStatus   map[string]int64    `json:"byStatus"`
	Faults     map[FaultKind]int64 `json:"faults"`
	Accounts   []AccountStats      `json:"accounts"`
}

// AccountStats are the figures of one key and model group.
type AccountStats struct {
	Dialect   Dialect       `json:"dialect"`
	KeyHash   string        `json:"keyHash"`
	Group     string        `json:"group"`
	Admitted  int64         `json:"admitted"`
	Throttled int64         `json:"throttled"`
	Budgets   []BudgetStats `json:"budgets"`
}

// BudgetStats are the figures of one bucket since it was first used, or its level was last set.
type BudgetStats struct {
	Budget           Budget  `json:"budget"`
	AmountPerWindow  float64 `json:"amountPerWindow"`
	WindowSeconds    float64 `json:"windowSeconds"`
	Burst            float64 `json:"burst"`
	Level            float64 `json:"level"`
	MinLevel         float64 `json:"minLevel"`
	StartLevel       float64 `json:"startLevel"`
	Refilled         float64 `json:"refilled"`
	Spent            float64 `json:"spent"`
	MeasuredSeconds  float64 `json:"measuredSeconds"`
	UtilisationShare float64 `json:"utilisationShare"` // spent / (start + refilled - level); 1 if nothing was wasted
	AllowanceShare   float64 `json:"allowanceShare"`   // spent / (start + refilled)
	MaxExcess        float64 `json:"maxExcess"`        // of all arrivals, refused ones included
}

// Stats returns the figures.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.opts.Now()
	out := Stats{
		AtUnixNano: now.UnixNano(), Calls: s.counts.calls, Admitted: s.counts.admitted, Throttled: s.counts.throttled,
		InFlight: s.InFlight(), ByStatus: maps.Clone(s.counts.byStatus), Faults: maps.Clone(s.counts.faults),
		Accounts: make([]AccountStats, 0, len(s.accounts)),
	}
	for _, a := range s.accounts {
		out.Accounts = append(out.Accounts, a.stats(now))
	}
	slices.SortFunc(out.Accounts, func(a, b AccountStats) int {
		return cmp.Or(cmp.Compare(a.Dialect, b.Dialect), cmp.Compare(a.KeyHash, b.KeyHash), cmp.Compare(a.Group, b.Group))
	})
	return out
}

func (a *account) stats(now time.Time) AccountStats {
	out := AccountStats{
		Dialect: a.id.dialect, KeyHash: a.id.keyHash, Group: a.id.group,
		Admitted: a.counts.admitted, Throttled: a.counts.throttled,
	}
	for _, l := range a.limits {
		out.Budgets = append(out.Budgets, l.stats(now))
	}
	return out
}

func (l limited) stats(now time.Time) BudgetStats {
	t, current := l.bucket.Tally(now), l.bucket.Level(now)
	return BudgetStats{
		Budget: l.Budget, AmountPerWindow: l.Amount, WindowSeconds: l.Window.Seconds(), Burst: l.Burst,
		Level: current, MinLevel: l.bucket.MinLevel(), StartLevel: t.Start, Refilled: t.Refilled, Spent: t.Spent,
		MeasuredSeconds:  now.Sub(t.Since).Seconds(),
		UtilisationShare: share(t.Spent, t.Start+t.Refilled-current),
		AllowanceShare:   share(t.Spent, t.Start+t.Refilled),
		MaxExcess:        t.MaxExcess,
	}
}

func share(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return part / whole
}
