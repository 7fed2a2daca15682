// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dialect

import "time"

// Wait is the wait a response asks for where neither a bucket's rate nor a call's cost is known: what is
// addressed to the call, else the latest reset of the exhausted budgets, else (for a throttle, whose call
// may have been larger than what was left) the latest of all. ok is false where there is no guidance.
// Successes and permanent failures ask for none.
func (r Reading) Wait(class Class) (wait time.Duration, source Source, ok bool) {
	if class == ClassSuccess || class == ClassPermanent {
		return 0, SourceNone, false
	}
	switch r.Source {
	case SourceRetryAfterMillis, SourceRetryAfterSeconds, SourceRetryAfterDate:
		return r.RetryAfter, r.Source, true
	case SourceBody:
		if r.Inside {
			return r.RetryAfter, SourceBody, true
		}
	default: // the rest ranks below the resets
	}
	if wait, ok := latestReset(r.Budgets, true); ok {
		return wait, SourceResetHeader, true
	}
	if class != ClassQuota {
		if wait, ok := latestReset(r.Budgets, false); ok {
			return wait, SourceResetHeader, true
		}
	}
	if r.Source == SourceBody {
		return r.RetryAfter, SourceBody, true
	}
	return 0, SourceNone, false
}

// Add adds the wait that an error inside a success states.
func (r *Reading) Add(f Failure) {
	if f.Waits && (r.Source == SourceNone || r.Source == "") {
		r.RetryAfter, r.Source, r.Inside = f.Wait, SourceBody, true
	}
}

func latestReset(budgets []BudgetReading, exhaustedOnly bool) (wait time.Duration, ok bool) {
	for _, b := range budgets {
		if b.HasReset && (!exhaustedOnly || b.Remaining == 0) {
			wait, ok = max(wait, b.Reset), true
		}
	}
	return wait, ok
}
