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
	f := fenced(lock)
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
