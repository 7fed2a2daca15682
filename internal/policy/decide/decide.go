// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import "time"

// Decide says what becomes of a call whose attempt failed.
func Decide(in Input) Decision {
	if reason, final := in.refused(); reason != "" {
		return giveBack(in, reason, final)
	}
	if in.Guidance.Has && in.Guidance.Wait > in.Settings.HonourCeiling {
		return giveBack(in, CeilingExceeded, true)
	}
	floor, wait := in.delay()
	room := in.room()
	if floor > room {
		return giveBack(in, Deadline, true)
	}
	if !in.guided() && !in.RetriesLeft {
		return giveBack(in, RetryBudget, true)
	}
	d := Decision{Action: Retry, Wait: min(wait, room), Floor: floor, Charge: !in.guided()}
	if in.Guidance.Has {
		d.Source = in.Guidance.Source
	}
	return d
}

// refused is why the call must not go again whatever the wait is; final is false where retries were never
// ours to make, and the response passes as it is.
func (in Input) refused() (reason Reason, final bool) {
	switch in.Class {
	case Quota:
		return QuotaExhausted, true
	case Throttle, Overload, Transient:
	default:
		return NotRetryable, false
	}
	switch {
	case in.ContentSent:
		return ContentSent, false
	case in.Class == Transient && in.MaybeProcessed && !in.Repeatable:
		return MaybeProcessed, false
	case in.BodyGone:
		return BodyGone, false
	case in.Attempt >= in.maxAttempts():
		return AttemptsExhausted, true
	}
	return "", false
}

// delay draws the wait, and the part of it that nothing may cut.
func (in Input) delay() (floor, wait time.Duration) {
	b := in.backoff()
	floor, wait = b.least(), b.draw(in.Attempt, in.draw())
	if in.Guidance.Has {
		reported := max(in.Guidance.Wait, 0)
		floor = max(floor, reported)
		wait = max(wait, add(reported, scale(in.jitter(reported), in.draw())))
	}
	return floor, max(wait, floor)
}

// jitter is the range that is added to a stated wait.
func (in Input) jitter(reported time.Duration) time.Duration {
	percent := float64(max(in.Settings.JitterPercent, 0)) / 100
	return scale(max(reported, leastJittered), percent)
}

// draw keeps chance within [0, 1], whatever the source gives.
func (in Input) draw() float64 {
	if u := in.Rand(); u >= 0 && u <= 1 {
		return u
	}
	return 0
}
