// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// slowLock is a lease whose writes take a while, and may fail.
type slowLock struct {
	resourcelock.Interface
	now    *time.Time
	took   time.Duration
	fails  error
	writes []resourcelock.LeaderElectionRecord
	during func()
}

func (*slowLock) Identity() string { return "me" }

func (l *slowLock) Update(_ context.Context, r resourcelock.LeaderElectionRecord) error {
	l.during()
	*l.now = l.now.Add(l.took)
	l.writes = append(l.writes, r)
	return l.fails
}

func (l *slowLock) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.Update(ctx, r)
}

// A leader may act until a second before others may take the lease, counted from before it was written; a write that
// failed extends nothing, and a lease that is given back is over before the write.
func TestTheFenceEndsBeforeTheLease(t *testing.T) {
	now := leaseNow
	lock := &slowLock{now: &now, took: 7 * time.Second, during: func() {}}
	f := fenced(lock, "")
	f.now = func() time.Time { return now }
	if f.Until().After(now) {
		t.Errorf("before anything was written it leads until %v", f.Until())
	}
	mine := resourcelock.LeaderElectionRecord{HolderIdentity: "me", LeaseDurationSeconds: 60}
	for name, write := range map[string]func(context.Context, resourcelock.LeaderElectionRecord) error{
		"create": f.Create, "update": f.Update,
	} {
		began := now
		if err := write(t.Context(), mine); err != nil {
			t.Fatal(err)
		}
		if got := f.Until(); !got.Equal(began.Add(59 * time.Second)) {
			t.Errorf("%s: until %v after it began", name, got.Sub(began))
		}
	}
	before := f.Until()
	lock.fails = errors.New("conflict")
	if err := f.Update(t.Context(), mine); !errors.Is(err, lock.fails) || !f.Until().Equal(before) {
		t.Errorf("a failed write moved the end by %v (%v)", f.Until().Sub(before), err)
	}
	lock.fails = nil
	lock.during = func() {
		if f.Until().After(now) {
			t.Error("it leads while it gives the lease back")
		}
	}
	if err := f.Update(t.Context(), resourcelock.LeaderElectionRecord{LeaseDurationSeconds: 1}); err != nil {
		t.Fatal(err)
	}
	if f.Until().After(now) {
		t.Error("it leads after it gave the lease back")
	}
}

// heldLock is a lease that somebody holds.
type heldLock struct {
	slowLock
	holder string
}

func (*heldLock) Identity() string { return "manager-0_uid-1_now" }

func (l *heldLock) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	return &resourcelock.LeaderElectionRecord{HolderIdentity: l.holder, LeaseDurationSeconds: 60, LeaderTransitions: 3}, []byte("raw"), nil
}

// What an earlier process of this pod held is free; everybody else's lease is waited for, those of pods with the same host name too.
func TestOnlyTheLeaseOfThisPodsDeadIsFree(t *testing.T) {
	for name, tc := range map[string]struct {
		host, uid, holder, want string
	}{
		"an earlier process of this pod":      {"manager-0", "uid-1", "manager-0_uid-1_then", ""},
		"this process":                        {"manager-0", "uid-1", "manager-0_uid-1_now", "manager-0_uid-1_now"},
		"another pod of the same host":        {"manager-0", "uid-1", "manager-0_uid-2_then", "manager-0_uid-2_then"},
		"another pod":                         {"manager-0", "uid-1", "manager-1_uid-2_then", "manager-1_uid-2_then"},
		"a UID that begins as this one":       {"manager-0", "uid-1", "manager-0_uid-12_then", "manager-0_uid-12_then"},
		"given back":                          {"manager-0", "uid-1", "", ""},
		"outside a pod, whoever it is called": {"manager-0", "", "manager-0_uid-1_then", "manager-0_uid-1_then"},
	} {
		t.Run(name, func(t *testing.T) {
			f := fenced(&heldLock{holder: tc.holder}, podPrefix(tc.host, tc.uid))
			record, raw, err := f.Get(t.Context())
			if err != nil || string(raw) != "raw" || record.LeaderTransitions != 3 || record.HolderIdentity != tc.want {
				t.Errorf("%+v, %q, %v; want holder %q", record, raw, err, tc.want)
			}
		})
	}
}
