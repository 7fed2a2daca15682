// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"encoding/json"
	"slices"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// surelySmall is the number of items from which a status may come near MaxBytes.
const surelySmall = 40

// prune keeps the status below MaxBytes: it leaves out what matters least until the rest fits. Conditions,
// counts and summary always stay.
func prune(s *v1alpha1.RateLimitPolicyStatus) {
	if len(s.Limits)+len(s.Lanes) < surelySmall {
		return
	}
	for _, step := range []func(*v1alpha1.RateLimitPolicyStatus){
		dropUsers, dropIdleLanes, dropFreeLimits, dropDetail, dropLanes, dropLimits,
	} {
		if size(s) < MaxBytes {
			return
		}
		step(s)
	}
}

func size(s *v1alpha1.RateLimitPolicyStatus) int {
	b, err := json.Marshal(s)
	if err != nil {
		return MaxBytes
	}
	return len(b)
}

func dropUsers(s *v1alpha1.RateLimitPolicyStatus) {
	for i := range s.Limits {
		if s.Limits[i].Name != s.Summary.BindingLimit {
			s.Limits[i].UsedBy = nil
		}
	}
}

func dropIdleLanes(s *v1alpha1.RateLimitPolicyStatus) {
	s.Lanes = slices.DeleteFunc(s.Lanes, func(l v1alpha1.LaneStatus) bool { return l.Offered == 0 && l.Queued == 0 })
}

func dropFreeLimits(s *v1alpha1.RateLimitPolicyStatus) {
	s.Limits = slices.DeleteFunc(s.Limits, func(l v1alpha1.LimitStatus) bool { return l.State == v1alpha1.LimitFree })
}

func dropDetail(s *v1alpha1.RateLimitPolicyStatus) {
	for i := range s.Limits {
		l := &s.Limits[i]
		l.RemainingAtProvider, l.TotalAtProvider, l.RemainingHeldForLanes = "", "", ""
		l.TotalInEffect, l.UsedElsewhere, l.UsedBorrowed = "", "", ""
	}
}

func dropLanes(s *v1alpha1.RateLimitPolicyStatus) { s.Lanes = s.Lanes[:min(len(s.Lanes), surelySmall)] }

func dropLimits(s *v1alpha1.RateLimitPolicyStatus) {
	s.Limits = s.Limits[:min(len(s.Limits), surelySmall)]
}
