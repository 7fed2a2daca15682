// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package shelves

import (
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/budgetstore"
)

// Name is what the slots are called.
const Name = "slots"

// call is one in flight, by when it ends.
type call struct{ ends time.Duration }

// shelf is a drawer's pool: the slots that it may use, the calls in them, and those that wait.
type shelf struct {
	capacity float64
	leased   float64
	calls    []call
	// orphans are calls of the incarnation before that were not heard of yet.
	orphans []call
	unknown bool
	// waits is how many calls want to begin, most how many of them at once.
	waits, wants int
}

var _ budgetstore.Pool = (*shelf)(nil)

func (s *shelf) Standing(time.Time) pool.Standing {
	b := pool.BudgetStanding{Name: Name, Slots: true, Capacity: s.capacity, Safe: 1, Held: float64(len(s.calls)), Wanted: float64(s.waits)}
	if s.unknown {
		b.Unknown = s.capacity
	}
	b.Claims = []pool.Claim{{Class: "all", Share: 1, Weight: 1, Wanted: b.Held + b.Wanted}}
	return pool.Standing{Holders: 1, Budgets: []pool.BudgetStanding{b}}
}

func (s *shelf) Supply(string, []pool.Allotment) {}

func (s *shelf) Needs(time.Time) (n pool.Needs) {
	if lack := float64(len(s.calls)+s.waits) - s.leased; lack > 0 {
		n.Slots = []pool.Amount{{Budget: Name, Units: lack}}
	}
	return n
}

func (s *shelf) Allot(string, []pool.Allotment, time.Time) float64 { return 0 }

func (s *shelf) Lease(_ string, n float64, _ time.Time) { s.leased = n }

func (s *shelf) Surplus(time.Time, time.Duration) []pool.Amount { return nil }

// end ends the calls whose time has come, and begins as many as may.
func (s *shelf) live(now time.Duration, lasts func() time.Duration) {
	over := func(c call) bool { return c.ends <= now }
	s.calls, s.orphans = slices.DeleteFunc(s.calls, over), slices.DeleteFunc(s.orphans, over)
	if len(s.orphans) == 0 {
		s.unknown = false
	}
	s.waits = max(0, s.wants-len(s.calls))
	for s.waits > 0 && float64(len(s.calls)) < s.leased {
		s.calls = append(s.calls, call{now + lasts()})
		s.waits--
	}
}

// find has a call of the incarnation before be heard of.
func (s *shelf) find() {
	if n := len(s.orphans); n > 0 {
		s.calls = append(s.calls, s.orphans[n-1])
		s.orphans = s.orphans[:n-1]
	}
}

// budgets are what an account has: the slots.
func budgets(capacity float64) []pool.Budget {
	return []pool.Budget{{Name: Name, Kind: budget.Slots, Capacity: capacity, External: true}}
}
