// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// DueAccount reports whether next is worth a write over previous, as Due does: generation, conditions and learned limits
// at once; counts, states and, while anything is abnormal, figures that moved by materialFraction after
// AbnormalInterval; other figures after NormalInterval.
func DueAccount(previous v1alpha1.ProviderAccountStatus, next AccountResult, now time.Time) bool {
	s := next.Status
	if previous.ObservedGeneration != s.ObservedGeneration || accountFlipped(previous.Conditions, s.Conditions) || relearned(previous, s) {
		return true
	}
	age := NormalInterval
	if at := previous.Summary.FiguresAt; at != nil && !now.Before(at.Time) {
		age = now.Sub(at.Time)
	}
	switch {
	case age < AbnormalInterval:
		return false
	case accountRestated(previous, s):
		return true
	case age < NormalInterval && !accountAbnormal(s):
		return false
	}
	return accountMaterial(previous, s)
}

func accountFlipped(a, b []metav1.Condition) bool {
	if len(a) != len(b) {
		return true
	}
	for i := range b {
		if differs(find(a, b[i].Type), &b[i]) {
			return true
		}
	}
	return false
}

// relearned: what policies are compiled with is another.
func relearned(a, b v1alpha1.ProviderAccountStatus) bool {
	values := map[string]int64{}
	for _, l := range a.Limits {
		values[l.Name] = l.Value
	}
	for _, l := range b.Limits {
		if l.Value != values[l.Name] {
			return true
		}
		delete(values, l.Name)
	}
	for _, gone := range values {
		if gone != 0 {
			return true
		}
	}
	return false
}

// accountRestated: a state, a count or a name is another one.
func accountRestated(a, b v1alpha1.ProviderAccountStatus) bool {
	if a.Summary.Namespaces != b.Summary.Namespaces || a.Summary.NextStep != b.Summary.NextStep ||
		len(a.Limits) != len(b.Limits) || len(a.Namespaces) != len(b.Namespaces) {
		return true
	}
	for i := range a.Limits {
		if a.Limits[i].Name != b.Limits[i].Name || a.Limits[i].State != b.Limits[i].State || a.Limits[i].Total != b.Limits[i].Total {
			return true
		}
	}
	for i := range a.Namespaces {
		if a.Namespaces[i].Name != b.Namespaces[i].Name {
			return true
		}
	}
	return moved(float64(a.Summary.Gateways), float64(b.Summary.Gateways))
}

// accountAbnormal: somebody may be looking.
func accountAbnormal(s v1alpha1.ProviderAccountStatus) bool {
	for _, l := range s.Limits {
		if l.State != v1alpha1.LimitFree {
			return true
		}
	}
	for _, c := range s.Conditions {
		if c.Type == v1alpha1.ConditionDegraded && c.Status != metav1.ConditionFalse || c.Reason == v1alpha1.ReasonDeclaredAboveProvider {
			return true
		}
	}
	return s.Summary.Waiting > 0
}

// accountMaterial measures a limit's figures against its total, and a namespace's against the account.
func accountMaterial(a, b v1alpha1.ProviderAccountStatus) bool {
	for i := range a.Limits {
		p, q, total := a.Limits[i], b.Limits[i], max(value(a.Limits[i].Total), 1)
		for _, pair := range [][2]v1alpha1.Amount{{p.Used, q.Used}, {p.Offered, q.Offered}, {p.Remaining, q.Remaining}} {
			if math.Abs(value(pair[0])-value(pair[1])) >= materialFraction*total {
				return true
			}
		}
		if moved(value(p.TotalAtProvider), value(q.TotalAtProvider)) || moved(value(p.RemainingAtProvider), value(q.RemainingAtProvider)) {
			return true
		}
	}
	for i := range a.Namespaces {
		p, q := a.Namespaces[i], b.Namespaces[i]
		for _, pair := range [][2]v1alpha1.Percent{{p.Used, q.Used}, {p.UsedBorrowed, q.UsedBorrowed}, {p.UnusedLent, q.UnusedLent}} {
			if math.Abs(part(pair[0])-part(pair[1])) >= materialFraction {
				return true
			}
		}
		if (p.Waiting == "") != (q.Waiting == "") {
			return true
		}
	}
	return a.Summary.Waiting != b.Summary.Waiting
}
