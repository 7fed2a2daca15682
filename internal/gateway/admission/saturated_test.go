// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
	referee "github.com/headgate-dev/headgate/internal/testing/fakeprovider/bucket"
)

// canonical input tokens: 400,000 a minute, a burst of as many.
const (
	canonicalRate  = 400_000.0 / 60
	canonicalBurst = 400_000.0
)

func uniform(from, to time.Duration) func(*rand.Rand) time.Duration {
	return func(r *rand.Rand) time.Duration { return from + time.Duration(r.Int64N(int64(to-from)+1)) }
}

// newWorld is the canonical account, full.
func newWorld(seed uint64) *world {
	return &world{
		budget: plan.InputTokens,
		now:    epoch, rand: rand.New(rand.NewPCG(seed, 1)), rate: canonicalRate, roundTo: 1000,
		referee: referee.New(canonicalBurst, canonicalRate, canonicalBurst, epoch),
		upload:  uniform(10*time.Millisecond, 120*time.Millisecond),
		until:   uniform(100*time.Millisecond, 1500*time.Millisecond),
		rest:    uniform(200*time.Millisecond, 3*time.Second),
	}
}

// load offers calls of 2,000 tokens at so many times what the account gives, one in three hundred of 60,000, whose
// estimates are off by errors (one deviation).
func (w *world) load(times, errors float64, end time.Time) {
	mean := 2000.0 + 58_000.0/300
	gap := mean / (times * w.rate)
	var next func()
	next = func() {
		if !w.now.Before(end) {
			return
		}
		c := &simCall{actual: 2000, deadline: w.now.Add(30 * time.Second)}
		if w.rand.IntN(300) == 0 {
			c.actual, c.deadline = 60_000, w.now.Add(2*time.Minute)
		}
		c.estimate, c.used = max(1, c.actual*(1+errors*w.rand.NormFloat64())), c.actual
		if w.budget == plan.Tokens {
			c.used = c.actual * 0.55
		}
		w.client.offer(c)
		w.after(time.Duration(w.rand.ExpFloat64()*gap*1e9), next)
	}
	w.after(0, next)
}

// hour runs a saturated hour and returns the part of sends that was refused, and of the allowance that was used.
func (w *world) hour(errors float64) (refused, used float64) {
	end := epoch.Add(time.Hour)
	w.load(1.5, errors, end)
	w.runUntil(end)
	t := w.referee.Tally(end)
	return float64(w.refused) / float64(w.sends), t.Spent / (t.Start + t.Refilled - w.referee.Level(end))
}

// blindHour is the same hour of a client that refunds blindly.
func blindHour(seed uint64, budget string, errors float64, syncs bool) (refused, used float64) {
	w := newWorld(seed)
	w.budget = budget
	w.client = &blind{w: w, syncs: syncs, level: canonicalBurst, cap: canonicalBurst, per: canonicalRate, at: epoch}
	return w.hour(errors)
}

// An hour at 1.5 times what an account gives: next to nothing is refused and next to nothing left unused, also where
// estimates are off by 10 %, and where a provider keeps the largest output of each call. Who refunds blindly is refused
// again and again: on top of what a report held already, or what the provider never gives back.
func TestASaturatedHourIsNextToFreeOfRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		budget string
		errors float64
		syncs  bool
		// worse is how much more of a blind client's sends is refused at least.
		worse float64
	}{
		"exact estimates, blind to calls in flight": {plan.InputTokens, 0, true, 0.1},
		"estimates 10 % off, refunds upon reports":  {plan.InputTokens, 0.1, true, 0.1},
		"estimates 10 % off, reports only lower":    {plan.InputTokens, 0.1, false, 0},
		"largest outputs kept, and refunded":        {plan.Tokens, 0.1, false, 0.1},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(1) {
				w := newWorld(seed)
				w.budget = tc.budget
				newGated(w, canonicalRate, canonicalBurst)
				refused, used := w.hour(tc.errors)
				blindly, usedBlindly := blindHour(seed, tc.budget, tc.errors, tc.syncs)
				t.Logf("%d of %d sends refused, %.4f %% (blindly %.2f %%); %.2f %% used (blindly %.2f %%)",
					w.refused, w.sends, refused*100, blindly*100, used*100, usedBlindly*100)
				if refused >= 0.0005 {
					t.Errorf("%.4f %% of the sends are refused", refused*100)
				}
				if used < 0.99 {
					t.Errorf("%.2f %% of the allowance is used", used*100)
				}
				if blindly < refused+tc.worse {
					t.Errorf("of blind refunds %.4f %% are refused: this load tells nothing", blindly*100)
				}
			}
		})
	}
}
