// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// statusCheck says what is wrong with a status, nil if nothing is.
type statusCheck func(*v1alpha1.RateLimitPolicyStatus) error

// all holds when every check does.
func all(checks ...statusCheck) statusCheck {
	return func(s *v1alpha1.RateLimitPolicyStatus) error {
		for _, check := range checks {
			if err := check(s); err != nil {
				return err
			}
		}
		return nil
	}
}

// condition holds when the condition says so for this reason.
func condition(kind string, status metav1.ConditionStatus, reason string) statusCheck {
	return func(s *v1alpha1.RateLimitPolicyStatus) error {
		c := meta.FindStatusCondition(s.Conditions, kind)
		if c == nil || c.Status != status || c.Reason != reason {
			return fmt.Errorf("condition %s is %+v, want %s/%s", kind, c, status, reason)
		}
		return nil
	}
}

// pods holds when so many match, are injected, governed and reporting.
func pods(matching, injected, governed, reporting int32) statusCheck {
	return func(s *v1alpha1.RateLimitPolicyStatus) error {
		g := s.Gateways
		if g.Matching != matching || g.Injected != injected || g.Governed != governed || g.Reporting != reporting {
			return fmt.Errorf("gateways %+v, want %d matching, %d injected, %d governed, %d reporting", g, matching, injected, governed, reporting)
		}
		return nil
	}
}

// sends holds once so many calls of provider anthropic were reported.
func sends(least int64) statusCheck {
	return func(s *v1alpha1.RateLimitPolicyStatus) error {
		for _, p := range s.Providers {
			if p.Name == "anthropic" && p.Sends != nil && *p.Sends >= least {
				return nil
			}
		}
		return fmt.Errorf("providers %+v, want %d sends", s.Providers, least)
	}
}

// ungoverned returns the reason given for a pod, empty if it is not named.
func ungoverned(s *v1alpha1.RateLimitPolicyStatus, pod string) string {
	for _, u := range s.Gateways.Ungoverned {
		if u.Name == pod {
			return u.Reason
		}
	}
	return ""
}
