// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// Bounds of what is deferred: the markers and rules of v1alpha1.Deferred.
const (
	maxDeferredAttempts = 100
	maxDeferredCalls    = 100_000
	minDeferredBytes    = 1 << 20
	maxDeferredBytes    = 16 << 30
	maxHostLength       = 253
	minDeferredAge      = time.Minute
	maxDeferredAge      = 168 * time.Hour
)

// deferSchema is the CEL rules of Provider that speak of Defer, and the bounds of what is deferred.
func deferSchema(path *field.Path, p *v1alpha1.Provider) field.ErrorList {
	var errs field.ErrorList
	if defers(p) && p.CredentialKey == "" {
		errs = append(errs, field.Invalid(path, p.CredentialKey,
			"Defer requires credentialKey: a call that is made later is never kept with its caller's key"))
	}
	if p.Deferred == nil {
		return errs
	}
	if !defers(p) {
		errs = append(errs, field.Invalid(path, "deferred",
			"deferred says nothing unless deadline.onExceeded or throttle.onCeilingExceeded is Defer"))
	}
	at, d := path.Child("deferred"), p.Deferred
	return append(errs, joinErrs(
		durationText(at.Child("maxAge"), d.MaxAge),
		deferredAge(at, d.MaxAge),
		between(at.Child("maxAttempts"), d.MaxAttempts, 1, maxDeferredAttempts),
		between(at.Child("maxCalls"), d.MaxCalls, 1, maxDeferredCalls),
		deferredBytes(at.Child("maxBytes"), d.MaxBytes),
		textSet(at.Child("callbackHosts"), d.CallbackHosts, maxHostLength, hostPattern),
	)...)
}

func deferredAge(path *field.Path, age v1alpha1.Duration) field.ErrorList {
	if d := duration(age, minDeferredAge); d >= minDeferredAge && d <= maxDeferredAge {
		return nil
	}
	return field.ErrorList{field.Invalid(path, string(age), "maxAge must be from 1m to 168h")}
}

func deferredBytes(path *field.Path, q *resource.Quantity) field.ErrorList {
	if q == nil {
		return nil
	}
	if value, ok := q.AsInt64(); ok && value >= minDeferredBytes && value <= maxDeferredBytes {
		return nil
	}
	return field.ErrorList{field.Invalid(path, q.String(), "must be a whole number from 1Mi to 16Gi, such as 64Mi")}
}

// failoverSchema is the CEL rule of Provider that speaks of Failover.
func failoverSchema(path *field.Path, p *v1alpha1.Provider) field.ErrorList {
	if to := failoverOf(p); to != "" && to == p.Name {
		return field.ErrorList{field.Invalid(path, to, "throttle.failoverTo must name another provider")}
	}
	return nil
}
