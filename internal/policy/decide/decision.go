// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import "time"

// Action is what to do.
type Action string

// The actions.
const (
	// Retry waits and goes again, through admission.
	Retry Action = "Retry"
	// GiveBack passes the provider's response on.
	GiveBack Action = "GiveBack"
)

// Reason is why a call is given back. The set is closed: it labels metrics.
type Reason string

// The reasons.
const (
	CeilingExceeded   Reason = "CeilingExceeded"
	Deadline          Reason = "Deadline"
	AttemptsExhausted Reason = "AttemptsExhausted"
	RetryBudget       Reason = "RetryBudget"
	QuotaExhausted    Reason = "QuotaExhausted"
	NotRetryable      Reason = "NotRetryable"
	ContentSent       Reason = "ContentSent"
	MaybeProcessed    Reason = "MaybeProcessed"
	BodyGone          Reason = "BodyGone"
)

// Decision is what becomes of a call.
type Decision struct {
	Action Action
	// Wait is how long to wait from now, Floor the part of it that nothing may cut.
	Wait, Floor time.Duration
	// Source is where the wait came from; "" for our own backoff.
	Source string
	// Charge: the retry is to be taken from the retry budget.
	Charge bool
	// Reason is set where the call is given back.
	Reason Reason
	// Final: the retries were ours and are over, so the client's SDK must not start its own.
	Final bool
	// RetryAfter is what to tell the client of a Final failure; 0 is "nothing".
	RetryAfter time.Duration
}

func giveBack(in Input, reason Reason, final bool) Decision {
	d := Decision{Action: GiveBack, Reason: reason, Final: final}
	if final && in.Guidance.Has {
		d.RetryAfter, d.Source = max(in.Guidance.Wait, 0), in.Guidance.Source
	}
	return d
}
