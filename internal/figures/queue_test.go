// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"testing"
	"time"
)

// queueOf reports a queue once a second and returns the lane's figures at the end.
func queueOf(t *testing.T, seconds int, queued func(second int) (a, b uint64), depth uint64) LaneFigures {
	t.Helper()
	s, now := NewStore(), start
	one, two := newReporter("a", time.Second), newReporter("b", time.Second)
	for second := range seconds {
		a, b := queued(second)
		for _, r := range []*reporter{one, two} {
			r.lane().Offered++
			r.up += time.Second
		}
		one.lane().Queued, one.lane().Fullness = a, float64(a)/float64(depth)
		two.lane().Queued, two.lane().Fullness = b, float64(b)/float64(depth)
		one.report(s, now)
		two.report(s, now)
		now = now.Add(time.Second)
	}
	return figuresAt(t, s, now).Lanes[0]
}

// 300 calls a minute against 60 leave 240 more in the queue each minute: it is known when it will be full.
func TestAQueueThatGrowsSaysWhenItWillBeFull(t *testing.T) {
	steady := func(perSecond uint64) func(int) (uint64, uint64) {
		return func(second int) (uint64, uint64) { return perSecond * uint64(second), 0 }
	}
	tests := map[string]struct {
		seconds int
		queued  func(second int) (a, b uint64)
		growing bool
		want    time.Duration
	}{
		"four a second, of 1000":        {61, steady(4), true, 190 * time.Second},
		"for twenty seconds":            {21, steady(4), true, 230 * time.Second},
		"full":                          {61, func(s int) (uint64, uint64) { return min(1000, 50*uint64(s)), 0 }, true, 0},
		"it stands":                     {300, func(int) (uint64, uint64) { return 500, 0 }, false, 0},
		"it shrinks":                    {130, func(s int) (uint64, uint64) { return 500 - uint64(s), 0 }, false, 0},
		"empty":                         {61, steady(0), false, 0},
		"it grew and stands since then": {200, func(s int) (uint64, uint64) { return min(4*uint64(s), 240), 0 }, false, 0},
		// Of two that grow alike the fuller one: 2 a second each, 240 and 120 of 1000.
		"two gateways": {121, func(s int) (uint64, uint64) { return 2 * uint64(s), uint64(s) }, true, 380 * time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := queueOf(t, tc.seconds, tc.queued, 1000)
			if got.Growing != tc.growing {
				t.Fatalf("growing %t: %+v", got.Growing, got)
			}
			if off := (got.FullIn - tc.want).Abs(); off > tc.want/5 {
				t.Errorf("full in %v, want about %v", got.FullIn, tc.want)
			}
		})
	}
}

// The queues of a manager's first sight are not growth.
func TestTheFirstSightOfAQueueIsNoGrowth(t *testing.T) {
	s, a := NewStore(), newReporter("a", time.Hour)
	a.lane().Queued, a.lane().Fullness = 500, 0.5
	a.report(s, start)
	a.lane().Offered++
	a.report(s, start.Add(time.Second))
	if l := figuresAt(t, s, start.Add(2*time.Second)).Lanes[0]; l.Growing || l.Queued != 500 {
		t.Errorf("%+v", l)
	}
}

func TestWhatGatewaysSayOfTheProvider(t *testing.T) {
	s, a, b := NewStore(), newReporter("a", time.Second), newReporter("b", time.Second)
	a.limit().Capacity, a.limit().Effective, a.limit().OutsidersPerSecond = 300, 0.8, 40
	b.limit().Capacity, b.limit().ProviderBinding = 100, true // says nothing of the rest, as gateways of before
	a.report(s, start)
	b.report(s, start)
	l := figuresAt(t, s, start).Limits[0]
	if l.Effective != 0.85 || l.OutsidersPerSecond != 40 || !l.ProviderBinding {
		t.Errorf("effective %v of the rate, want 0.85; %v a second elsewhere, binding %t", l.Effective, l.OutsidersPerSecond, l.ProviderBinding)
	}
	a.limit().Effective, a.limit().OutsidersPerSecond = -1, -1
	b.limit().Effective = 7
	a.report(s, start)
	b.report(s, start)
	if l := figuresAt(t, s, start).Limits[0]; l.Effective != 1 || l.OutsidersPerSecond != 0 {
		t.Errorf("absurd reports are believed: %+v", l)
	}
}

func TestWhatWentElsewhereAndWhatIsDeferred(t *testing.T) {
	s, a, b := NewStore(), newReporter("a", time.Second), newReporter("b", time.Second)
	for i, r := range []*reporter{a, b} {
		r.route.FailedOver, r.route.Deferred, r.route.DeferredWaiting, r.route.DeadLetters = 3, 20, uint64(5+i), 1
		r.route.Lanes[0].Refused = map[string]uint64{"Displaced": 2, "LanePaused": 4}
		r.report(s, start)
	}
	a.route.DeferredWaiting = 0
	a.report(s, start.Add(time.Second))
	f := figuresAt(t, s, start.Add(time.Second))
	p := f.Providers[0]
	if p.FailedOver != 6 || p.Deferred != 40 || p.DeferredWaiting != 6 || p.DeadLetters != 2 {
		t.Errorf("%+v", p)
	}
	if l := f.Lanes[0]; l.RefusedBy["Displaced"] != 4 || l.RefusedBy["LanePaused"] != 8 || l.RefusedMostlyFor != "LanePaused" {
		t.Errorf("refused by %v", l.RefusedBy)
	}
}
