// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import "time"

// Class is the class of a failure. The values are those of the dialects.
type Class string

// The classes. Success is of no failure; a breaker counts it.
const (
	Success   Class = "success"
	Throttle  Class = "throttle"
	Overload  Class = "overload"
	Quota     Class = "quota_exhausted"
	Transient Class = "transient"
	Permanent Class = "permanent"
)

// Guidance is the wait the provider asked for.
type Guidance struct {
	Wait time.Duration
	// Source says where it stood, for the record.
	Source string
	// Has tells a stated 0 from nothing.
	Has bool
}

// Settings are the policy's.
type Settings struct {
	// HonourCeiling is the longest stated wait that is waited; equal is.
	HonourCeiling time.Duration
	JitterPercent int
	// MaxAttempts includes the first.
	MaxAttempts int
	Unguided    Backoff
	Overload    Backoff
	// OverloadMaxAttempts is the cap for calls that meet an overload; it includes the first.
	OverloadMaxAttempts int
}

// Backoff is an exponential backoff.
type Backoff struct {
	Base, Cap time.Duration
	// Equal draws from half of it to all instead of from 0.
	Equal bool
}

// Input is what is known when an attempt has failed.
type Input struct {
	Class    Class
	Guidance Guidance
	// Attempt is how many attempts have been made, this one included.
	Attempt int
	// Arrived is when the call came; it matters where there is no Deadline.
	Arrived, Now time.Time
	// Deadline bounds the time to the first content; zero is "none stated".
	Deadline time.Time
	// AttemptTime is how long an attempt takes to its first content, as far as known.
	AttemptTime time.Duration
	// ContentSent: the client has had content, so another attempt would repeat it.
	ContentSent bool
	// BodyGone: the request's body was too large to be kept.
	BodyGone bool
	// MaybeProcessed: the request reached the provider and its fate is unknown.
	MaybeProcessed bool
	// Repeatable: processing the request twice does no harm (GET, or an idempotency key that is honoured).
	Repeatable bool
	// RetriesLeft is the retry budget's answer; see Budget.
	RetriesLeft bool
	Settings    Settings
	// Rand draws from [0, 1).
	Rand func() float64
}

// deadline is the stated one, else the client's presumed patience.
func (in Input) deadline() time.Time {
	if in.Deadline.IsZero() {
		return in.Arrived.Add(patience)
	}
	return in.Deadline
}

// room is how long the call may wait at most.
func (in Input) room() time.Duration {
	return in.deadline().Sub(in.Now) - max(in.AttemptTime, 0)
}

// guided reports whether the wait is the provider's own request.
func (in Input) guided() bool { return in.Guidance.Has && in.Class == Throttle }

func (in Input) maxAttempts() int {
	if in.Class == Overload {
		return in.Settings.OverloadMaxAttempts
	}
	return in.Settings.MaxAttempts
}

func (in Input) backoff() Backoff {
	if in.Class == Overload {
		return in.Settings.Overload
	}
	return in.Settings.Unguided
}
