// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"strconv"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

var leaseNow = time.UnixMilli(1_800_000_000_000)

func lease(holder string, renewed time.Time, annotations map[string]string) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: LeaseName, Annotations: annotations},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To(holder), LeaseDurationSeconds: ptr.To(int32(60)),
			RenewTime: ptr.To(metav1.NewMicroTime(renewed)),
		},
	}
}

func leadershipOver(t *testing.T, objects ...client.Object) *leadership {
	t.Helper()
	scheme, err := Scheme()
	if err != nil {
		t.Fatal(err)
	}
	l := newLeadership(fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(), "ns", "10.0.0.1:9443", func() time.Time { return leaseNow })
	l.now = func() time.Time { return leaseNow }
	return l
}

func TestOnlyALivingLeaderIsNamed(t *testing.T) {
	named := map[string]string{AnnotationAddress: "10.0.0.2:9443", AnnotationEpoch: "7"}
	for name, tc := range map[string]struct {
		objects []client.Object
		want    string
	}{
		"no lease":      {nil, ""},
		"held":          {[]client.Object{lease("other", leaseNow.Add(-59*time.Second), named)}, "10.0.0.2:9443"},
		"expired":       {[]client.Object{lease("other", leaseNow.Add(-61*time.Second), named)}, ""},
		"given back":    {[]client.Object{lease("", leaseNow, named)}, ""},
		"not announced": {[]client.Object{lease("other", leaseNow, nil)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := leadershipOver(t, tc.objects...)
			if err := l.look(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got, self := l.Leader(); got != tc.want || self {
				t.Errorf("leader %q, self %v; want %q", got, self, tc.want)
			}
		})
	}
}

// The epoch grows over a clock that went back, and over a lease that was deleted and made anew.
func TestEpochOnlyGrows(t *testing.T) {
	ahead := "1900000000000"
	for name, tc := range map[string]struct {
		annotations map[string]string
		want        uint64
	}{
		"first":             {nil, 1_800_000_000_000},
		"clock went back":   {map[string]string{AnnotationEpoch: ahead}, 1_900_000_000_001},
		"ordinary":          {map[string]string{AnnotationEpoch: "1700000000000"}, 1_800_000_000_000},
		"somebody's scrawl": {map[string]string{AnnotationEpoch: "x"}, 1_800_000_000_000},
	} {
		t.Run(name, func(t *testing.T) {
			l := leadershipOver(t, lease("me", leaseNow, tc.annotations))
			if err := l.write(t.Context()); err != nil {
				t.Fatal(err)
			}
			address, self := l.Leader()
			if want, _ := strconv.ParseUint(tc.annotations[AnnotationEpoch], 10, 64); l.Before() != want {
				t.Errorf("the epoch before was %d, want %d", l.Before(), want)
			}
			if l.Epoch() != tc.want || !self || address != "10.0.0.1:9443" {
				t.Errorf("epoch %d, self %v at %s; want %d", l.Epoch(), self, address, tc.want)
			}
			// A look that read before must not take the lead away.
			if err := l.look(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, self := l.Leader(); !self {
				t.Error("the leader forgot that it leads")
			}
		})
	}
}

// Only a lease that nobody has held before makes a leader the first: every doubt makes it a later one.
func TestOnlyANewLeaseMakesTheFirstLeader(t *testing.T) {
	for name, tc := range map[string]struct {
		annotations map[string]string
		transitions *int32
		want        bool
	}{
		"new":                            {nil, nil, true},
		"new, as written":                {map[string]string{"other": "x"}, ptr.To(int32(0)), true},
		"announced before":               {map[string]string{AnnotationEpoch: "1700000000000"}, ptr.To(int32(0)), false},
		"somebody's scrawl":              {map[string]string{AnnotationEpoch: "x"}, nil, false},
		"changed hands, never announced": {nil, ptr.To(int32(1)), false},
	} {
		t.Run(name, func(t *testing.T) {
			held := lease("me", leaseNow, tc.annotations)
			held.Spec.LeaseTransitions = tc.transitions
			l := leadershipOver(t, held)
			if l.First() {
				t.Error("first before it leads")
			}
			if err := l.write(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := l.First(); got != tc.want {
				t.Errorf("first is %v, want %v", got, tc.want)
			}
		})
	}
}
