// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/headgate-dev/headgate/internal/testing/seed"
)

var start = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)

// throttled is a call told to wait: ceiling 120 s, deadline 300 s, as in the first case.
func throttled(wait time.Duration) Input {
	return Input{
		Class: Throttle, Guidance: Guidance{Wait: wait, Source: "retry-after-seconds", Has: true},
		Attempt: 1, Arrived: start, Now: start, Deadline: start.Add(300 * time.Second), RetriesLeft: true,
		Settings: Settings{
			HonourCeiling: 120 * time.Second, JitterPercent: 25, MaxAttempts: 3, OverloadMaxAttempts: 4,
			Unguided: Backoff{Base: 500 * time.Millisecond, Cap: 30 * time.Second},
			Overload: Backoff{Base: time.Second, Cap: 30 * time.Second},
		},
		Rand: func() float64 { return 0.5 },
	}
}

// TestA1LongWaitsAreHonouredOrDeclined: never replaced by a short backoff.
func TestA1LongWaitsAreHonouredOrDeclined(t *testing.T) {
	for _, u := range []float64{0, 0.5, 0.999999} {
		in := throttled(61 * time.Second)
		in.Rand = func() float64 { return u }
		d := Decide(in)
		if d.Action != Retry || d.Wait < 61*time.Second || d.Wait > 61*time.Second*5/4 || d.Floor != 61*time.Second {
			t.Errorf("61 s: %+v", d)
		}
	}
	want := Decision{
		Action: GiveBack, Reason: CeilingExceeded, Final: true, RetryAfter: 121 * time.Second, Source: "retry-after-seconds",
	}
	if diff := cmp.Diff(want, Decide(throttled(121*time.Second))); diff != "" {
		t.Errorf("121 s: (-want +got)\n%s", diff)
	}
}

// TestA2HugeWaitsAreDeclined, with the wait they named.
func TestA2HugeWaitsAreDeclined(t *testing.T) {
	for _, wait := range []time.Duration{1382400 * time.Second, math.MaxInt64} {
		if d := Decide(throttled(wait)); d.Reason != CeilingExceeded || d.RetryAfter != wait {
			t.Errorf("%v: %+v", wait, d)
		}
	}
}

// TestA3EqualToTheCeilingIsHonoured, and a stated 0 waits the backoff.
func TestA3EqualToTheCeilingIsHonoured(t *testing.T) {
	if d := Decide(throttled(120 * time.Second)); d.Action != Retry || d.Floor != 120*time.Second {
		t.Errorf("120 s: %+v", d)
	}
	for _, stated := range []time.Duration{0, -time.Second} {
		var total time.Duration
		for attempt := 1; attempt < 3; attempt++ {
			in := throttled(stated)
			in.Attempt = attempt
			in.Rand = func() float64 { return 0 }
			d := Decide(in)
			if d.Action != Retry || d.Wait < leastBackoff || d.Floor < leastBackoff {
				t.Errorf("%v, attempt %d: %+v", stated, attempt, d)
			}
			total += d.Wait
		}
		if total < 2*leastBackoff {
			t.Errorf("%v: %v in all", stated, total)
		}
	}
}

// TestA3GuidanceDoesNotStopGrowth: the wait is at least this attempt's backoff.
func TestA3GuidanceDoesNotStopGrowth(t *testing.T) {
	in := throttled(0)
	in.Attempt, in.Settings.MaxAttempts = 5, 9
	in.Rand = func() float64 { return 1 }
	if d := Decide(in); d.Wait != 8*time.Second {
		t.Errorf("attempt 5 waits %v, want 500 ms · 2^4", d.Wait)
	}
}

// TestA4DeadlineIsDecidedBeforeSleeping: what cannot fit is given back at once, with the wait.
func TestA4DeadlineIsDecidedBeforeSleeping(t *testing.T) {
	in := throttled(60 * time.Second)
	in.Deadline = start.Add(30 * time.Second)
	if d := Decide(in); d.Action != GiveBack || d.Reason != Deadline || d.RetryAfter != time.Minute || !d.Final {
		t.Errorf("60 s in 30 s: %+v", d)
	}
	in = throttled(9 * time.Second)
	in.Deadline = start.Add(4 * time.Second)
	if d := Decide(in); d.Reason != Deadline {
		t.Errorf("9 s in 4 s: %+v", d)
	}
	in = throttled(60 * time.Second)
	in.Deadline = time.Time{}
	in.Now = start.Add(time.Millisecond)
	if d := Decide(in); d.Reason != Deadline {
		t.Errorf("60 s without a deadline, after 1 ms: %+v", d)
	}
	in = throttled(9 * time.Second)
	in.Deadline, in.AttemptTime = start.Add(10*time.Second), 2*time.Second
	if d := Decide(in); d.Reason != Deadline {
		t.Errorf("9 s in 10 s with an attempt of 2 s: %+v", d)
	}
}

// TestA4JitterIsCutTheFloorIsNot: near the deadline the spread shrinks to nothing.
func TestA4JitterIsCutTheFloorIsNot(t *testing.T) {
	in := throttled(9 * time.Second)
	in.Deadline = start.Add(9 * time.Second)
	in.Rand = func() float64 { return 0.9 }
	if d := Decide(in); d.Action != Retry || d.Wait != 9*time.Second {
		t.Errorf("%+v", d)
	}
}

// TestA7WhatIsNeverRetried, and who may retry it instead.
func TestA7WhatIsNeverRetried(t *testing.T) {
	cases := map[string]struct {
		change func(*Input)
		want   Reason
		final  bool
	}{
		"exhausted quota":           {func(in *Input) { in.Class = Quota }, QuotaExhausted, true},
		"permanent":                 {func(in *Input) { in.Class = Permanent }, NotRetryable, false},
		"unknown class":             {func(in *Input) { in.Class = "" }, NotRetryable, false},
		"content sent":              {func(in *Input) { in.ContentSent = true }, ContentSent, false},
		"body gone":                 {func(in *Input) { in.BodyGone = true }, BodyGone, false},
		"maybe processed":           {func(in *Input) { in.Class, in.MaybeProcessed = Transient, true }, MaybeProcessed, false},
		"attempts used up":          {func(in *Input) { in.Attempt = 3 }, AttemptsExhausted, true},
		"overloads used up":         {func(in *Input) { in.Class, in.Attempt = Overload, 4 }, AttemptsExhausted, true},
		"no retries left":           {func(in *Input) { in.Guidance.Has, in.RetriesLeft = false, false }, RetryBudget, true},
		"overload, no retries left": {func(in *Input) { in.Class, in.RetriesLeft = Overload, false }, RetryBudget, true},
	}
	for name, tc := range cases {
		in := throttled(time.Second)
		tc.change(&in)
		if d := Decide(in); d.Action != GiveBack || d.Reason != tc.want || d.Final != tc.final {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// TestWhatIsRetried: and what it costs the retry budget.
func TestWhatIsRetried(t *testing.T) {
	cases := map[string]struct {
		change func(*Input)
		charge bool
	}{
		"guided throttle":         {func(in *Input) { in.RetriesLeft = false }, false},
		"unguided throttle":       {func(in *Input) { in.Guidance.Has = false }, true},
		"guided overload":         {func(in *Input) { in.Class = Overload }, true},
		"overload, attempt 3":     {func(in *Input) { in.Class, in.Attempt = Overload, 3 }, true},
		"refused connection":      {func(in *Input) { in.Class, in.Guidance.Has = Transient, false }, true},
		"processed, but harmless": {func(in *Input) { in.Class, in.MaybeProcessed, in.Repeatable = Transient, true, true }, true},
	}
	for name, tc := range cases {
		in := throttled(time.Second)
		tc.change(&in)
		if d := Decide(in); d.Action != Retry || d.Charge != tc.charge {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// TestDelayProperties: for any input, a retry is never before what was stated or the least backoff, never
// later than the deadline allows, and never above the ceiling's wait and its jitter.
func TestDelayProperties(t *testing.T) {
	span := rapid.Int64Range(0, math.MaxInt64)
	classes := rapid.SampledFrom([]Class{Throttle, Overload, Transient, Quota, Permanent})
	rapid.Check(t, func(t *rapid.T) {
		duration := func(name string) time.Duration { return time.Duration(span.Draw(t, name)) }
		small := func(name string) time.Duration {
			return time.Duration(rapid.Int64Range(0, int64(10*time.Minute)).Draw(t, name))
		}
		in := Input{
			Class:    classes.Draw(t, "class"),
			Guidance: Guidance{Wait: rapid.OneOf(rapid.Just(duration("huge")), rapid.Just(small("wait"))).Draw(t, "stated"), Has: rapid.Bool().Draw(t, "has")},
			Attempt:  rapid.IntRange(1, 1<<30).Draw(t, "attempt"), Arrived: start, Now: start.Add(small("elapsed")),
			Deadline: start.Add(small("deadline")), AttemptTime: small("attempt time") / 100, RetriesLeft: true,
			Settings: Settings{
				HonourCeiling: small("ceiling"), JitterPercent: rapid.IntRange(0, 1000).Draw(t, "jitter"),
				MaxAttempts: math.MaxInt, OverloadMaxAttempts: math.MaxInt,
				Unguided: Backoff{duration("base"), duration("cap"), rapid.Bool().Draw(t, "equal")},
				Overload: Backoff{small("overload base"), small("overload cap"), false},
			},
			Rand: func() float64 { return rapid.Float64Range(0, 1).Draw(t, "u") },
		}
		d := Decide(in)
		if d.Action == GiveBack {
			if d.Wait != 0 || d.Reason == "" {
				t.Fatalf("%+v", d)
			}
			return
		}
		room := in.Deadline.Sub(in.Now) - in.AttemptTime
		if d.Wait < d.Floor || d.Wait > room || d.Floor <= 0 || d.Reason != "" {
			t.Fatalf("wait %v, floor %v, room %v", d.Wait, d.Floor, room)
		}
		if !in.Guidance.Has {
			return
		}
		stated := in.Guidance.Wait
		if stated > in.Settings.HonourCeiling || d.Wait < stated {
			t.Fatalf("stated %v, ceiling %v, wait %v", stated, in.Settings.HonourCeiling, d.Wait)
		}
	})
}

// TestA14JitterSpreads: 400 callers told 9 s, none before it, spread over the whole of the jitter.
func TestA14JitterSpreads(t *testing.T) {
	var quarter [4]int
	for i := range 400 {
		in := throttled(9 * time.Second)
		in.Rand = func() float64 { return (float64(i) + 0.5) / 400 }
		extra := Decide(in).Wait - 9*time.Second
		if extra < 0 || extra > 2250*time.Millisecond {
			t.Fatalf("%v after the stated wait", extra)
		}
		quarter[min(int(extra*4/(2250*time.Millisecond)), 3)]++
	}
	if want := [4]int{100, 100, 100, 100}; quarter != want {
		t.Errorf("spread %v, want %v", quarter, want)
	}
}

// TestUnguidedBackoff pins the formula, its least and its overflow.
func TestUnguidedBackoff(t *testing.T) {
	b := Backoff{Base: 500 * time.Millisecond, Cap: 30 * time.Second}
	cases := []struct {
		backoff Backoff
		attempt int
		u       float64
		want    time.Duration
	}{
		{b, 1, 1, 500 * time.Millisecond},
		{b, 1, 0, 100 * time.Millisecond},
		{b, 2, 1, time.Second},
		{b, 2, 0.5, 500 * time.Millisecond},
		{b, 7, 1, 30 * time.Second},
		{b, 1 << 40, 1, 30 * time.Second},
		{Backoff{Base: math.MaxInt64, Cap: math.MaxInt64}, 9, 1, math.MaxInt64},
		{Backoff{Base: 1, Cap: math.MaxInt64}, 100, 1, math.MaxInt64},
		{Backoff{Base: time.Millisecond, Cap: time.Second}, 1, 0, time.Millisecond},
		{Backoff{}, 3, 1, leastBackoff},
		{Backoff{Base: time.Second, Cap: time.Minute, Equal: true}, 1, 0, 500 * time.Millisecond},
		{Backoff{Base: time.Second, Cap: time.Minute, Equal: true}, 1, 1, time.Second},
	}
	for _, tc := range cases {
		if got := tc.backoff.draw(tc.attempt, tc.u); got != tc.want {
			t.Errorf("%+v attempt %d u %v: %v, want %v", tc.backoff, tc.attempt, tc.u, got, tc.want)
		}
	}
}

// TestStrangeChanceIsHarmless: a source that breaks its promise shortens and overflows nothing.
func TestStrangeChanceIsHarmless(t *testing.T) {
	for _, u := range []float64{math.NaN(), math.Inf(1), -1, 7} {
		in := throttled(9 * time.Second)
		in.Rand = func() float64 { return u }
		if d := Decide(in); d.Wait < 9*time.Second || d.Wait > 12*time.Second {
			t.Errorf("%v: %+v", u, d)
		}
	}
}

// BenchmarkDecide must not allocate.
func BenchmarkDecide(b *testing.B) {
	in := throttled(9 * time.Second)
	b.ReportAllocs()
	for b.Loop() {
		if Decide(in).Action != Retry {
			b.Fatal("no retry")
		}
	}
}
