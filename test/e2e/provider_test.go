// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// arrivals are the calls that reached the provider with the tenant's key, oldest first.
func (n tenant) arrivals(t *testing.T) []fakeprovider.Arrival {
	t.Helper()
	var all []fakeprovider.Arrival
	if err := get(t.Context(), providerAdmin(t)+"/_fake/arrivals", &all); err != nil {
		t.Fatal(err)
	}
	hash := fakeprovider.KeyHash(n.key)
	all = slices.DeleteFunc(all, func(a fakeprovider.Arrival) bool { return a.KeyHash != hash })
	slices.SortFunc(all, func(a, b fakeprovider.Arrival) int { return cmp.Compare(a.TimeUnixNano, b.TimeUnixNano) })
	return all
}

// mustArrive fails unless so many calls arrived.
func (n tenant) mustArrive(t *testing.T, want int) {
	t.Helper()
	if got := n.arrivals(t); len(got) != want {
		t.Errorf("%d calls reached the provider, want %d: %+v", len(got), want, got)
	}
}

func providerAdmin(t *testing.T) string {
	t.Helper()
	var s corev1.Service
	if err := api.Get(t.Context(), types.NamespacedName{Namespace: providerNamespace, Name: "provider"}, &s); err != nil {
		t.Fatal(err)
	}
	return "http://" + s.Spec.ClusterIP + ":8080"
}

// heldUp is how long a busy machine may hold calls up on their way while later ones pass: they arrive in a heap then,
// though none was sent too early. A bucket that was filled once too often is more than that in every test.
const heldUp = time.Second

// mustStayBelow fails if in any span more calls arrived than burst and rate allow it: for every pair of arrivals,
// those between them, both included.
func mustStayBelow(t *testing.T, all []fakeprovider.Arrival, perSecond, burst float64) {
	t.Helper()
	worst, at := 0.0, ""
	for i := range all {
		for j := i; j < len(all); j++ {
			span := time.Duration(all[j].TimeUnixNano - all[i].TimeUnixNano)
			// One more, since the first of a span is taken before it begins.
			if excess := float64(j-i+1) - (burst + perSecond*(span+heldUp).Seconds() + 1); excess > worst {
				worst, at = excess, fmt.Sprintf("%d calls in %s", j-i+1, span)
			}
		}
	}
	if worst > 0 {
		t.Errorf("%s: %.1f more than %.0f at once and %.1f a second allow", at, worst, burst, perSecond)
	}
}

// eventually is within for checks of the policy's status.
func (n tenant) eventually(t *testing.T, limit time.Duration, what string, check statusCheck) time.Duration {
	t.Helper()
	return within(t, limit, what, func(ctx context.Context) error {
		p, err := n.policy(ctx)
		if err != nil {
			return err
		}
		return check(&p.Status)
	})
}
