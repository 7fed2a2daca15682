// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"math"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
	referee "github.com/headgate-dev/headgate/internal/testing/fakeprovider/bucket"
)

// spendOutside takes from the account as others would, in calls of their own.
func (w *world) spendOutside(perSecond float64, until time.Time) {
	var next func()
	next = func() {
		if !w.now.Before(until) {
			return
		}
		if w.referee.Fits(w.now, 2000) {
			w.referee.Take(w.now, 2000)
		}
		w.after(time.Duration(w.rand.ExpFloat64()*2000/perSecond*1e9), next)
	}
	next()
}

// Ten minutes alone, ten beside somebody else, five alone again: others are seen only while they are there, and in
// half a minute; what they leave is used, and little is refused.
func TestOthersSpendingIsEstimatedAndAllowedFor(t *testing.T) {
	for name, tc := range map[string]struct{ part, refused float64 }{
		"a third": {1.0 / 3, 0.02},
		// In what is left a call of 60,000 tokens takes half a minute to collect, and others take as they please.
		"two thirds": {2.0 / 3, 0.04},
	} {
		t.Run(name, func(t *testing.T) {
			part := tc.part
			w := newWorld(1)
			d := newGated(w, canonicalRate, canonicalBurst)
			w.load(1.5, 0.1, epoch.Add(time.Hour))
			most := 0.0
			mean := func(from, to time.Duration) float64 {
				sum, n := 0.0, 0
				for at := from; at <= to; at += 5 * time.Second {
					w.runUntil(epoch.Add(at))
					seen := d.gate.Figures(w.now).Limits[0].Outsiders
					sum, n, most = sum+seen, n+1, max(most, seen)
				}
				return sum / float64(n)
			}
			if seen := mean(0, 10*time.Minute); seen > 0.01*canonicalRate {
				t.Errorf("alone, others are taken to spend %.0f", seen)
			}
			sends, refused, before := w.sends, w.refused, w.referee.Tally(w.now)
			w.spendOutside(part*canonicalRate, epoch.Add(20*time.Minute))
			seen := mean(10*time.Minute+45*time.Second, 20*time.Minute)
			after := w.referee.Tally(w.now)
			used := (after.Spent - before.Spent) / (after.Refilled - before.Refilled)
			t.Logf("others spend %.0f and are taken to spend %.0f (at most %.0f); %d of %d refused; %.1f %% of the refill used",
				part*canonicalRate, seen, most, w.refused-refused, w.sends-sends, used*100)
			if math.Abs(seen/canonicalRate-part) > 0.1 {
				t.Errorf("others spend %.0f and are taken to spend %.0f", part*canonicalRate, seen)
			}
			if used < 0.95 {
				t.Error("what others leave is not used")
			}
			if float64(w.refused-refused) > tc.refused*float64(w.sends-sends) {
				t.Error("too much is refused")
			}
			if seen := mean(21*time.Minute, 25*time.Minute); seen > 0.01*canonicalRate {
				t.Errorf("alone again, others are taken to spend %.0f", seen)
			}
		})
	}
}

// A provider that gives three quarters of what the policy says, and reports nothing but waits: the cut finds the rate.
func TestRefusalsThatNothingExplainsCutTheRate(t *testing.T) {
	w := newWorld(3)
	w.silent = true
	w.rate = canonicalRate * 0.75
	w.referee = referee.New(canonicalBurst, w.rate, canonicalBurst, epoch)
	d := newGated(w, canonicalRate, canonicalBurst)
	w.load(2, 0.1, epoch.Add(time.Hour))
	w.runUntil(epoch.Add(30 * time.Minute))
	sends, refused, sum := w.sends, w.refused, 0.0
	least := 1.0
	for range 180 {
		w.runUntil(w.now.Add(10 * time.Second))
		f := d.gate.Figures(w.now).Limits[0].Effective
		sum, least = sum+f/180, min(least, f)
	}
	tally := w.referee.Tally(w.now)
	used := tally.Spent / (tally.Start + tally.Refilled - w.referee.Level(w.now))
	part := float64(w.refused-refused) / float64(w.sends-sends)
	t.Logf("the rate in effect is %.2f, at least %.2f; %.2f %% refused, %.1f %% used", sum, least, part*100, used*100)
	if sum < 0.6 || sum > 0.85 || least < floorLeast {
		t.Errorf("the rate in effect is %.2f on average, at least %.2f", sum, least)
	}
	if part > 0.02 || used < 0.9 {
		t.Errorf("%.2f %% are refused, %.1f %% used", part*100, used*100)
	}
}

func TestTheCutComesBackAndCountersRestart(t *testing.T) {
	var a adaptive
	at := func(s float64) time.Time { return epoch.Add(time.Duration(s * float64(time.Second))) }
	if !a.refused(at(0), true, at(1)) {
		t.Fatal("an unexpected refusal cuts nothing")
	}
	a.reduce(0.25, at(1))
	if got := a.factor(); math.Abs(got-0.85) > 1e-9 {
		t.Fatalf("cut to %v", got)
	}
	if a.refused(at(0.9), true, at(2)) {
		t.Error("a call sent before the cut cuts again")
	}
	if a.recover(at(10.9)) || !a.recover(at(11.5)) || math.Abs(a.factor()-0.87) > 1e-9 {
		t.Errorf("after 10 s %v is used", a.factor())
	}
	if !a.recover(at(36)) || math.Abs(a.factor()-0.91) > 1e-9 {
		t.Errorf("after 35 s %v is used: steps are counted from the change", a.factor())
	}
	if a.recover(at(1000)); a.factor() != 1 {
		t.Errorf("in the end %v is used", a.factor())
	}
	for range 20 {
		a.reduce(0.25, at(1000))
	}
	if a.factor() != 0.25 {
		t.Errorf("cut to %v, below the floor", a.factor())
	}
}

func TestRefusalsAboveTwoPercentCut(t *testing.T) {
	for name, tc := range map[string]struct {
		served, refused int
		over            time.Duration
		want            bool
	}{
		"two of few":              {10, 2, time.Minute, false},
		"three of 147":            {144, 3, time.Minute, true},
		"three of 150":            {147, 3, time.Minute, false},
		"three over ten minutes":  {20, 3, 10 * time.Minute, false},
		"three over four minutes": {20, 3, 4 * time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			var a adaptive
			for range tc.served {
				a.served(epoch)
			}
			cut := false
			for i := range tc.refused {
				now := epoch.Add(tc.over * time.Duration(i+1) / time.Duration(tc.refused))
				cut = a.refused(now, false, now)
			}
			if cut != tc.want {
				t.Errorf("cut %t, want %t", cut, tc.want)
			}
		})
	}
}

func TestTheFloorIsWhatLanesHaveReserved(t *testing.T) {
	for want, lanes := range map[float64][]int32{0.25: {1000}, 0.4: {400, 600}, 0.5: {500, 300, 200}} {
		g := &Gate{}
		for _, l := range lanes {
			g.route.Lanes = append(g.route.Lanes, plan.Lane{SharePermille: l})
		}
		if got := g.floor(); math.Abs(got-want) > 1e-9 {
			t.Errorf("lanes %v: %v, want %v", lanes, got, want)
		}
	}
	if got := (&Gate{}).floor(); got != floorLeast {
		t.Errorf("without lanes %v", got)
	}
}
