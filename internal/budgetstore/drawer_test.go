// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budgetstore

import (
	"errors"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
)

// hand is a pool that needs 1000 at once and spends nothing.
type hand struct{ level float64 }

func (h *hand) Standing(time.Time) pool.Standing {
	return pool.Standing{Holders: 1, Budgets: []pool.BudgetStanding{{Name: "tokens", Level: h.level, Safe: 5}}}
}
func (h *hand) Supply(string, []pool.Allotment)  {}
func (h *hand) Lease(string, float64, time.Time) {}
func (h *hand) Needs(time.Time) pool.Needs {
	return pool.Needs{Small: []pool.Amount{{Budget: "tokens", Units: 1000 - h.level}}}
}

func (h *hand) Allot(_ string, in []pool.Allotment, _ time.Time) float64 {
	for _, a := range in {
		h.level += a.Units
	}
	return 0
}
func (h *hand) Surplus(time.Time, time.Duration) []pool.Amount { return nil }

// TestALostStoreLeavesTheShare, less what was in hand, and nothing more; and it is told since when it is lost.
func TestALostStoreLeavesTheShare(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	h := &hand{}
	accounts := []Account{{Name: "a", Pool: h, Budgets: []pool.Budget{{Name: "tokens", Rate: 100, Capacity: 1000, SmallCall: 10, External: true}}}}
	d := New(Config{Name: "d", Incarnation: "1"}, start)
	now := start
	var total float64
	for ; now.Sub(start) < time.Second; now = now.Add(100 * time.Millisecond) {
		for _, w := range d.Draws(accounts, 10, now) {
			total = 40
			d.Receive(w, Result{Answer: &Answer{Instance: "i", Version: w.Request.Sequence, Stamp: 1, Lines: []Granted{{Total: total, Share: 20, Fair: 50}}}}, now)
		}
	}
	if h.level != 40 {
		t.Fatalf("%v in hand of 40", h.level)
	}
	if _, lost := d.Lost(now); lost {
		t.Error("lost at once")
	}
	down, before := now, h.level
	var lostSince time.Time
	for ; now.Sub(down) < 14*time.Second; now = now.Add(50 * time.Millisecond) {
		for _, w := range d.Draws(accounts, 10, now) {
			d.Receive(w, Result{Err: errors.New("gone")}, now)
		}
		if since, lost := d.Lost(now); lost {
			lostSince = since
		}
		// In hand and brought together: the larger of 40 and 20 a second since the lease ended.
		most := max(before, 20*now.Sub(lostSince).Seconds()+10)
		if lostSince.IsZero() {
			most = before
		}
		if h.level > most+1e-6 {
			t.Fatalf("%s after: %v in hand, %v may be", now.Sub(down), h.level, most)
		}
	}
	if lasted := lostSince.Sub(down); lasted < Life-300*time.Millisecond || lasted > Life {
		t.Errorf("lost since %s after the last answer", lasted)
	}
	if h.level < 150 {
		t.Errorf("10 s at a share of 20 brought %v", h.level)
	}
}

// TestAnswersAreTakenInOnce: late, doubled and overtaken ones bring nothing again.
func TestAnswersAreTakenInOnce(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	h := &hand{}
	accounts := []Account{{Name: "a", Pool: h, Budgets: []pool.Budget{{Name: "tokens", Rate: 100, Capacity: 1000, External: true}}}}
	d := New(Config{Name: "d", Incarnation: "1"}, start)
	var draws []Draw
	for i := range 3 {
		now := start.Add(time.Duration(i) * 5 * time.Second)
		draws = append(draws, d.Draws(accounts, 10, now)...)
	}
	if len(draws) != 3 {
		t.Fatalf("%d draws", len(draws))
	}
	answer := func(version uint64, total float64) Result {
		return Result{Answer: &Answer{Instance: "i", Version: version, Stamp: 1, Lines: []Granted{{Total: total}}}}
	}
	now, had := start.Add(11*time.Second), h.level
	for _, r := range []Result{answer(3, 70), answer(2, 50), answer(3, 70), answer(1, 20)} {
		d.Receive(draws[2], r, now)
	}
	if h.level-had != 70 {
		t.Errorf("%v came of 70", h.level-had)
	}
}

// A limit on slots that comes by an edit holds what its gateways have until the store has answered, and gives nothing away before.
func TestSlotsThatCameByAnEditAreKeptUntilTheStoreAnswers(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	k := newAccount(New(Config{Name: "d", Incarnation: "1"}, now), "a", now)
	k.adopt(Account{Budgets: []pool.Budget{{Name: "s", Kind: budget.Slots, Capacity: 100, External: true}}}, now)
	l := k.lines[0]
	l.standing = pool.BudgetStanding{Name: "s", Slots: true, Held: 5, Wanted: 20, Capacity: 80, Safe: 1}
	l.count()
	if got := l.allowed(now.Add(time.Second), 10*time.Second, 3, now); got < 5 {
		t.Errorf("%v may be had, and 5 are", got)
	}
}
