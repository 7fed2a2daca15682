// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
)

func compileDeadline(p *v1alpha1.Provider) plan.Deadline {
	stated := orDefault(p.Deadline, v1alpha1.Deadline{})
	return plan.Deadline{
		DefaultMillis: deadlineOf(p).Milliseconds(), OnExceeded: unlessDeclined(stated.OnExceeded, v1alpha1.Decline),
	}
}

// unlessDeclined leaves out what the plan does not state, so that gateways of before can read it.
func unlessDeclined[T ~string](stated, decline T) string {
	if stated == decline {
		return ""
	}
	return string(stated)
}

// defers says whether anything of a provider is deferred.
func defers(p *v1alpha1.Provider) bool {
	return orDefault(p.Deadline, v1alpha1.Deadline{}).OnExceeded == v1alpha1.Defer ||
		orDefault(p.Throttle, v1alpha1.Throttle{}).OnCeilingExceeded == v1alpha1.CeilingDefer
}

// compileDeferred is nil unless something is deferred.
func compileDeferred(p *v1alpha1.Provider) *plan.Deferred {
	if !defers(p) {
		return nil
	}
	stated := orDefault(p.Deferred, v1alpha1.Deferred{})
	out := &plan.Deferred{
		MaxAgeSeconds: int64(duration(stated.MaxAge, defaultDeferredAge).Seconds()),
		MaxAttempts:   orDefault(stated.MaxAttempts, defaultDeferredAttempts),
		MaxCalls:      orDefault(stated.MaxCalls, defaultDeferredCalls),
		MaxBytes:      defaultDeferredBytes, CallbackHosts: slices.Clone(stated.CallbackHosts),
	}
	if stated.MaxBytes != nil {
		out.MaxBytes = whole(stated.MaxBytes)
	}
	return out
}
