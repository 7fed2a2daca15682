// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
)

// instead looks at what happens to calls whose wait is not acceptable.
func (w *warner) instead(providers []v1alpha1.Provider) {
	t := w.route.Throttle
	if w.route.Observe {
		if w.route.Deferred != nil || t.OnCeilingExceeded != "" {
			w.warn(w.path.Child("mode"), "Observe refuses no call, so that none is deferred or fails over: set Enforce for that")
		}
		return
	}
	if d := w.route.Deferred; d != nil && d.MaxAgeSeconds*1000 < w.route.Deadline.DefaultMillis {
		w.warn(w.path.Child("deferred", "maxAge"), "%s is shorter than the deadline %s that a call has without being deferred: raise it",
			millis(d.MaxAgeSeconds*1000), millis(w.route.Deadline.DefaultMillis))
	}
	if t.OnCeilingExceeded != plan.Failover {
		return
	}
	to := &providers[slices.IndexFunc(providers, func(p v1alpha1.Provider) bool { return p.Name == t.FailoverTo })]
	at := w.path.Child("throttle", "failoverTo")
	if len(to.Limits) == 0 {
		w.warn(at, "%s has no limits, so that all calls that fail over go there at once: state its allowance", to.Name)
	}
	if sameServer(w.provider, to) && w.provider.CredentialKey == to.CredentialKey {
		w.warn(at, "%s is the same server and account, which refuses for the same reason: give it another credentialKey or baseURL", to.Name)
	}
}
