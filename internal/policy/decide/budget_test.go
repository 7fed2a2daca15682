// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func take(b *Budget, now time.Time, tries int) (taken int) {
	for range tries {
		if b.Take(now) {
			taken++
		}
	}
	return taken
}

// TestRetryBudgetIsAFifth of the calls of the last ten seconds, and three at least.
func TestRetryBudgetIsAFifth(t *testing.T) {
	var b Budget
	if got := take(&b, start, 100); got != budgetLeast {
		t.Errorf("without calls: %d retries, want %d", got, budgetLeast)
	}
	for i := range 100 {
		b.Call(start.Add(time.Duration(i) * 10 * time.Millisecond))
	}
	if got := take(&b, start.Add(time.Second), 100); got != 20-budgetLeast {
		t.Errorf("after 100 calls and 3 retries: %d more, want 17", got)
	}
	if b.Left(start.Add(9 * time.Second)) {
		t.Error("a budget used up is back within its window")
	}
	if got := take(&b, start.Add(20*time.Second), 100); got != budgetLeast {
		t.Errorf("after the window: %d retries, want %d", got, budgetLeast)
	}
}

// TestRetryBudgetProperties: whatever the clock does, retries never exceed a fifth of the calls and the
// least for each window that has begun.
func TestRetryBudgetProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b Budget
		now, latest := start, start
		calls, retries := int64(0), int64(0)
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.Int64Range(-5, 3000).Draw(t, "ms")) * time.Millisecond)
			if now.After(latest) {
				latest = now
			}
			if rapid.Bool().Draw(t, "call") {
				b.Call(now)
				calls++
			} else if b.Take(now) {
				retries++
			}
		}
		windows := int64(latest.Sub(start)/(budgetSeconds*time.Second)) + 1
		if allowed := calls*budgetPercent/100 + windows*(budgetLeast+1); retries > allowed {
			t.Fatalf("%d retries of %d calls in %d windows, allowed %d", retries, calls, windows, allowed)
		}
	})
}

// TestRetryBudgetSurvivesAClockThatJumps by years, in both directions.
func TestRetryBudgetSurvivesAClockThatJumps(t *testing.T) {
	var b Budget
	b.Call(start)
	for _, now := range []time.Time{start.AddDate(50, 0, 0), start.AddDate(-50, 0, 0), start} {
		b.Call(now)
		_ = take(&b, now, 10)
	}
	if b.Left(start) {
		t.Error("a clock that went back gave retries back")
	}
}
