// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package bucket_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider/bucket"
	_ "github.com/headgate-dev/headgate/internal/testing/seed"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// canonical is the account most tests use: 400,000 tokens a minute, a burst of as many.
func canonical(level float64) *bucket.Bucket {
	return bucket.New(400_000, 400_000.0/60, level, start)
}

func TestWaitFromEmptyIsCostOverRate(t *testing.T) {
	for name, tc := range map[string]struct {
		cost float64
		want time.Duration
	}{
		"one token":   {1, 150 * time.Microsecond},
		"a chat call": {2_000, 300 * time.Millisecond},
		"a bulk call": {60_000, 9 * time.Second},
		"everything":  {400_000, time.Minute},
		"nothing":     {0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := canonical(0)
			got, ok := b.Until(start, tc.cost)
			if !ok || got != tc.want {
				t.Fatalf("Until = %v, %v, want %v", got, ok, tc.want)
			}
			if tc.want > 0 && b.Fits(start.Add(tc.want-time.Microsecond), tc.cost) {
				t.Error("fits a microsecond early")
			}
			if !b.Fits(start.Add(tc.want), tc.cost) {
				t.Error("does not fit when told to come back")
			}
		})
	}
}

func TestLargerThanCapacityNeverFits(t *testing.T) {
	b := canonical(400_000)
	if _, ok := b.Until(start, 400_001); ok {
		t.Fatal("a call above the capacity was given a wait")
	}
	v := bucket.Admit(start, []bucket.Charge{{Bucket: b, Cost: 512_000}})
	if v.Admitted || !v.Never || v.Short != 0 {
		t.Fatalf("verdict = %+v", v)
	}
}

func TestClockStepsBackChangeNothing(t *testing.T) {
	b := canonical(1_000)
	if got := b.Level(start.Add(-time.Hour)); got != 1_000 {
		t.Fatalf("level after a step back = %v", got)
	}
	if got := b.Level(start.Add(time.Second)); math.Abs(got-1_000-400_000.0/60) > 1e-6 {
		t.Fatalf("level a second later = %v", got)
	}
}

func TestMaxExcessCountsTheWorstInterval(t *testing.T) {
	b := bucket.New(100, 10, 100, start)
	b.Arrive(start, 100)
	b.Arrive(start.Add(time.Second), 10)
	if got := b.Tally(start.Add(time.Second)).MaxExcess; got != 0 {
		t.Fatalf("conforming arrivals have excess %v", got)
	}
	b.Arrive(start.Add(2*time.Second), 35)
	if got := b.Tally(start.Add(2 * time.Second)).MaxExcess; math.Abs(got-25) > 1e-6 {
		t.Fatalf("excess = %v, want 25", got)
	}
}

// TestConservation: for any sequence of calls, settlements and clock steps the level is never above the
// capacity, a refusal takes nothing, and spent = start + refilled - wasted - end.
func TestConservation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.Float64Range(0, 1e6).Draw(t, "capacity")
		perSecond := rapid.Float64Range(0, 1e5).Draw(t, "perSecond")
		b := bucket.New(capacity, perSecond, rapid.Float64Range(-1e5, 2e6).Draw(t, "level"), start)
		now := start
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.Int64Range(-int64(time.Second), int64(20*time.Second)).Draw(t, "dt")))
			cost := rapid.Float64Range(0, 2e5).Draw(t, "cost")
			before := b.Level(now)
			if rapid.Bool().Draw(t, "settle") {
				b.Take(now, cost-1e5)
			} else if v := bucket.Admit(now, []bucket.Charge{{Bucket: b, Cost: cost}}); !v.Admitted && b.Level(now) != before {
				t.Fatalf("a refusal moved the level from %v to %v", before, b.Level(now))
			} else if v.Admitted && cost > before+1e-3 {
				t.Fatalf("admitted %v at level %v", cost, before)
			}
			checkConserved(t, b, now)
		}
	})
}

func checkConserved(t *rapid.T, b *bucket.Bucket, now time.Time) {
	level, tally := b.Level(now), b.Tally(now)
	if level > b.Capacity() || math.IsNaN(level) {
		t.Fatalf("level %v above capacity %v", level, b.Capacity())
	}
	// What is given back to a full bucket is lost, so the level may be below the account, never above.
	account := tally.Start + tally.Refilled - tally.Wasted - tally.Spent
	if level > account+1e-3*(1+math.Abs(account)) {
		t.Fatalf("level %v, account %v: tokens from nowhere", level, account)
	}
}

// TestAdmittedTrafficConforms: whatever is offered, what is admitted fits burst + rate·length over every
// interval, on each of the buckets of a call.
func TestAdmittedTrafficConforms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		requests := bucket.New(40, 2, 40, start)
		tokens := bucket.New(4_000, 300, rapid.Float64Range(0, 4_000).Draw(t, "level"), start)
		type sent struct {
			at   float64
			cost float64
		}
		var admitted []sent
		now := start
		for range 120 {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(2*time.Second)).Draw(t, "dt")))
			cost := rapid.Float64Range(0, 1_500).Draw(t, "cost")
			if bucket.Admit(now, []bucket.Charge{{Bucket: requests, Cost: 1}, {Bucket: tokens, Cost: cost}}).Admitted {
				admitted = append(admitted, sent{now.Sub(start).Seconds(), cost})
			}
		}
		for i := range admitted {
			sum, count := 0.0, 0.0
			for j := i; j < len(admitted); j++ {
				sum += admitted[j].cost
				count++
				length := admitted[j].at - admitted[i].at
				if sum > 4_000+300*length+1e-2 || count > 40+2*length+1e-2 {
					t.Fatalf("%v tokens and %v calls in %v s", sum, count, length)
				}
			}
		}
	})
}

// TestWaitIsExact: told to wait w, the call fits after w and not a microsecond's worth before.
func TestWaitIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perSecond := rapid.Float64Range(1, 1e5).Draw(t, "perSecond")
		b := bucket.New(1e6, perSecond, rapid.Float64Range(-1e5, 1e5).Draw(t, "level"), start)
		cost := rapid.Float64Range(0, 1e6).Draw(t, "cost")
		wait, ok := b.Until(start, cost)
		if !ok {
			t.Fatal("no wait for a call that can fit")
		}
		if early := wait - time.Millisecond; early > 0 && b.Fits(start.Add(early), cost) {
			t.Fatalf("fits at %v, told %v", early, wait)
		}
		// A nanosecond more, for the rounding of sums.
		if !b.Fits(start.Add(wait+1), cost) {
			t.Fatalf("does not fit after %v", wait)
		}
	})
}
