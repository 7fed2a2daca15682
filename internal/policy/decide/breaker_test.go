// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func tripped(t *testing.T, u float64) *Breaker {
	t.Helper()
	b := &Breaker{Rand: func() float64 { return u }}
	for range breakerLeast {
		if ok, probe := b.Allow(start); !ok || probe {
			t.Fatal("it is not closed at first")
		}
		b.Record(Overload, false, start)
	}
	if !b.Open() {
		t.Fatal("it did not open")
	}
	return b
}

func TestBreakerOpensByOverloadsAlone(t *testing.T) {
	for name, tc := range map[string]struct {
		classes []Class
		gap     time.Duration
		want    bool
	}{
		"too few":                  {[]Class{Overload, Overload, Overload, Overload}, 0, false},
		"enough":                   {[]Class{Overload, Overload, Overload, Overload, Overload}, 0, true},
		"half of them":             {[]Class{Success, Overload, Success, Overload, Success, Overload}, 0, true},
		"below half":               {[]Class{Success, Success, Success, Overload, Success, Overload}, 0, false},
		"throttles are no failure": {[]Class{Throttle, Throttle, Throttle, Throttle, Throttle, Throttle}, 0, false},
		"throttles are answers":    {[]Class{Throttle, Throttle, Throttle, Overload, Throttle, Overload}, 0, false},
		"transient ones":           {[]Class{Transient, Transient, Transient, Transient, Transient, Overload}, 0, false},
		"unknown ones":             {[]Class{"", "", "", "", "", Overload}, 0, false},
		"over a long time":         {[]Class{Overload, Overload, Overload, Overload, Overload, Overload}, 3 * time.Second, false},
		"within the window":        {[]Class{Overload, Overload, Overload, Overload, Overload, Overload}, 2 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			b, now := &Breaker{}, start
			for _, c := range tc.classes {
				b.Record(c, false, now)
				now = now.Add(tc.gap)
			}
			if b.Open() != tc.want {
				t.Errorf("open %t, want %t", b.Open(), tc.want)
			}
		})
	}
}

func TestBreakerLetsOneProbeThroughAtATime(t *testing.T) {
	b := tripped(t, 0.5)
	wait := b.Wait(start)
	if wait != breakerBase/2 {
		t.Fatalf("waits %v", wait)
	}
	if ok, _ := b.Allow(start.Add(wait - 1)); ok {
		t.Error("a call goes while it is open")
	}
	now := start.Add(wait)
	if ok, probe := b.Allow(now); !ok || !probe {
		t.Fatal("no probe when the time has come")
	}
	if ok, _ := b.Allow(now); ok {
		t.Error("a second probe beside the first")
	}
	if w := b.Wait(now); w <= 0 || w > breakerBase {
		t.Errorf("who waits for a probe waits %v", w)
	}
	b.Record(Success, false, now)
	if !b.Open() {
		t.Error("a result from before it opened closed it")
	}
	b.Record(Success, true, now)
	if ok, probe := b.Allow(now); !ok || probe {
		t.Error("a probe that was served did not close it")
	}
}

func TestBreakerWaitsLongerAfterEachFailedProbe(t *testing.T) {
	b, now := tripped(t, 1), start
	for _, want := range []int64{1, 2, 4, 8, 16, 30, 30} {
		if got := b.Wait(now); got != time.Duration(want)*time.Second {
			t.Fatalf("waits %v, want %vs", got, want)
		}
		now = now.Add(b.Wait(now))
		if ok, probe := b.Allow(now); !ok || !probe {
			t.Fatal("no probe")
		}
		b.Record(Overload, true, now)
	}
	// What recovers for a moment only goes on from there, what was well for a minute begins anew.
	for _, tc := range []struct {
		after, want time.Duration
	}{{time.Second, breakerCap}, {2 * time.Minute, breakerBase}} {
		now = now.Add(b.Wait(now))
		b.Allow(now)
		b.Record(Success, true, now)
		now = now.Add(tc.after)
		for range breakerLeast {
			b.Record(Overload, false, now)
		}
		if got := b.Wait(now); got != tc.want {
			t.Errorf("opened again %v after it closed, it waits %v, want %v", tc.after, got, tc.want)
		}
	}
}

func TestBreakerFindsAnotherProbe(t *testing.T) {
	for name, tc := range map[string]struct {
		class Class
		after time.Duration
	}{
		"whose end is unknown": {"", 0},
		"that met no answer":   {Transient, breakerBase},
		"that never ends":      {Permanent, probeTime},
	} {
		t.Run(name, func(t *testing.T) {
			b := tripped(t, 1)
			now := start.Add(b.Wait(start))
			b.Allow(now)
			if tc.class != Permanent {
				b.Record(tc.class, true, now)
			}
			if ok, probe := b.Allow(now.Add(tc.after)); !ok || !probe {
				t.Error("no other probe goes")
			}
		})
	}
}

// A model that is overloaded all the time gets the calls that open the breaker, and then at most one for each least
// open time; one that recovered is served with the next probe.
func TestBreakerNeverHammersAndRecovers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draws := rapid.Float64Range(0, 1)
		b := &Breaker{Rand: func() float64 { return draws.Draw(t, "u") }}
		now, probes := start, 0
		for i := range rapid.IntRange(breakerLeast, 300).Draw(t, "calls") {
			if i >= breakerLeast {
				now = now.Add(time.Duration(rapid.IntRange(0, 200).Draw(t, "gap")) * time.Millisecond)
			}
			ok, probe := b.Allow(now)
			switch {
			case i < breakerLeast != (ok && !probe):
				t.Fatalf("call %d: allowed %t, as a probe %t", i, ok, probe)
			case !ok && b.Wait(now) <= 0:
				t.Fatal("a call is kept back for no time")
			case probe:
				probes++
			}
			if ok {
				b.Record(Overload, probe, now)
			}
		}
		if most := int(now.Sub(start) / leastBackoff); probes > most {
			t.Fatalf("%d probes in %v", probes, now.Sub(start))
		}
		now = now.Add(b.Wait(now))
		if ok, probe := b.Allow(now); !ok || !probe {
			t.Fatal("no probe goes when the wait is over")
		}
		if b.Record(Success, true, now); b.Open() {
			t.Fatal("it stays open though a probe was served")
		}
	})
}
