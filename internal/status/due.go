// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// How often figures may be rewritten.
const (
	// AbnormalInterval is the least time between writes of anything but conditions.
	AbnormalInterval = 30 * time.Second
	// NormalInterval is the least time between writes of mere amounts while nothing is abnormal.
	NormalInterval = 10 * time.Minute
)

// Due reports whether next is worth a write over previous:
//
//   - at once, when the spec's generation, or one of Accepted, Programmed and Ready, changed;
//   - after AbnormalInterval, when counts, states, Degraded, Throttled or the next step's cause changed, or
//     there is something to tell; and material figures, while something is abnormal;
//   - after NormalInterval, when figures changed by something material.
//
// Messages, waits of a moment and the time of the figures are never a reason of their own.
func Due(previous v1alpha1.RateLimitPolicyStatus, next Result, now time.Time) bool {
	s := next.Status
	if flipped(previous, s) {
		return true
	}
	age := NormalInterval
	if at := previous.Summary.FiguresAt; at != nil {
		age = now.Sub(at.Time)
		if age < 0 { // the clock that wrote it was ahead
			age = NormalInterval
		}
	}
	switch {
	case age < AbnormalInterval:
		return false
	case len(next.Events) > 0 || restated(previous, s):
		return true
	case age < NormalInterval && !abnormal(s):
		return false
	}
	return material(previous, s)
}

// flipped: what a person or a GitOps tool waits for has changed.
func flipped(a, b v1alpha1.RateLimitPolicyStatus) bool {
	if a.ObservedGeneration != b.ObservedGeneration || len(a.Conditions) != len(b.Conditions) {
		return true
	}
	if a.Summary.Mode != b.Summary.Mode || a.Summary.Providers != b.Summary.Providers {
		return true
	}
	for _, kind := range []string{v1alpha1.ConditionAccepted, v1alpha1.ConditionProgrammed, v1alpha1.ConditionReady} {
		if differs(find(a.Conditions, kind), find(b.Conditions, kind)) {
			return true
		}
	}
	// Accepted's message follows from the spec alone, so it cannot flicker.
	return find(a.Conditions, v1alpha1.ConditionAccepted).Message != find(b.Conditions, v1alpha1.ConditionAccepted).Message
}

func differs(a, b *metav1.Condition) bool {
	return a == nil || b == nil || a.Status != b.Status || a.Reason != b.Reason
}

// restated: a state or a count is another one.
func restated(a, b v1alpha1.RateLimitPolicyStatus) bool {
	for _, kind := range []string{v1alpha1.ConditionDegraded, v1alpha1.ConditionThrottled} {
		if differs(find(a.Conditions, kind), find(b.Conditions, kind)) {
			return true
		}
	}
	return a.Summary.BindingLimit != b.Summary.BindingLimit || recounted(a.Gateways, b.Gateways) ||
		anotherState(a, b)
}

func recounted(a, b v1alpha1.GatewayCounts) bool {
	if a.Governed != b.Governed || a.Injected != b.Injected || a.Matching != b.Matching ||
		a.Reporting != b.Reporting || a.Silent != b.Silent || a.UpToDate != b.UpToDate || a.Unknown != b.Unknown ||
		len(a.Ungoverned) != len(b.Ungoverned) {
		return true
	}
	for i := range a.Ungoverned {
		if a.Ungoverned[i] != b.Ungoverned[i] {
			return true
		}
	}
	return false
}

func anotherState(a, b v1alpha1.RateLimitPolicyStatus) bool {
	if len(a.Limits) != len(b.Limits) || len(a.Providers) != len(b.Providers) || len(a.Lanes) != len(b.Lanes) {
		return true
	}
	for i := range a.Limits {
		if a.Limits[i].Name != b.Limits[i].Name || a.Limits[i].State != b.Limits[i].State || a.Limits[i].Total != b.Limits[i].Total {
			return true
		}
	}
	for i := range a.Providers {
		if a.Providers[i].Name != b.Providers[i].Name || a.Providers[i].State != b.Providers[i].State {
			return true
		}
	}
	return false
}

// abnormal: somebody may be looking.
func abnormal(s v1alpha1.RateLimitPolicyStatus) bool {
	for _, c := range s.Conditions {
		good := metav1.ConditionTrue
		if c.Type == v1alpha1.ConditionDegraded || c.Type == v1alpha1.ConditionThrottled {
			good = metav1.ConditionFalse
		}
		if c.Status != good || c.Reason == v1alpha1.ReasonPartlyGoverned || c.Reason == v1alpha1.ReasonObserveOnly {
			return true
		}
	}
	return false
}
