// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

// The lease, and what the leader writes on it.
const (
	LeaseName = "headgate-manager"
	// AnnotationAddress is where the leader's coordinator is dialled.
	AnnotationAddress = "headgate.dev/coordinator-address"
	// AnnotationEpoch grows with each leader.
	AnnotationEpoch = "headgate.dev/coordinator-epoch"
)

// leasePoll is how often the lease is looked at: gateways of a lost leader find the next within this. While nobody is known to
// lead, gateways wait.
const (
	leasePoll = 2 * time.Second
	leaseSoon = 500 * time.Millisecond
)

// leadership knows who leads. It implements coordinator.Leadership.
type leadership struct {
	client  client.Client
	key     client.ObjectKey
	address string
	now     func() time.Time
	// until is when another replica may hold the lease.
	until func() time.Time
	seen  atomic.Pointer[leader]
}

// leader is who leads, as last seen.
type leader struct {
	address string
	epoch   uint64
	before  uint64 // the epoch of the leader before this one
	self    bool
	first   bool
}

func newLeadership(c client.Client, namespace, address string, until func() time.Time) *leadership {
	l := &leadership{
		client: c, key: client.ObjectKey{Namespace: namespace, Name: LeaseName}, address: address,
		now: time.Now, until: until,
	}
	l.seen.Store(&leader{})
	return l
}

// Leader implements coordinator.Leadership.
func (l *leadership) Leader() (address string, self bool) {
	seen := l.seen.Load()
	return seen.address, seen.self
}

// Epoch implements coordinator.Leadership.
func (l *leadership) Epoch() uint64 { return l.seen.Load().epoch }

// Before implements coordinator.Leadership.
func (l *leadership) Before() uint64 { return l.seen.Load().before }

// First implements coordinator.Leadership.
func (l *leadership) First() bool { return l.seen.Load().first }

// Until implements coordinator.Leadership.
func (l *leadership) Until() time.Time { return l.until() }

// watch looks at the lease until ctx ends or this replica leads, on every replica.
func (l *leadership) watch(ctx context.Context) error {
	for {
		if l.seen.Load().self {
			return nil
		}
		if err := l.look(ctx); err != nil && ctx.Err() == nil {
			logf.FromContext(ctx).V(1).Info("cannot read the lease", "reason", err.Error())
		}
		again := leasePoll
		if l.seen.Load().address == "" {
			again = leaseSoon
		}
		if !pause(ctx, again) {
			return nil
		}
	}
}

func (l *leadership) look(ctx context.Context) error {
	var lease coordinationv1.Lease
	switch err := l.client.Get(ctx, l.key, &lease); {
	case apierrors.IsNotFound(err): // nobody holds it
	case err != nil:
		return err
	}
	found := &leader{}
	if held(&lease, l.now()) {
		found.address = lease.Annotations[AnnotationAddress]
		found.epoch = epochOf(&lease)
	}
	// announce may have come in between; what it stored stays.
	if before := l.seen.Load(); !before.self {
		l.seen.CompareAndSwap(before, found)
	}
	return nil
}

// held reports whether somebody holds the lease. What a leader that is gone wrote on it stays there.
func held(lease *coordinationv1.Lease, now time.Time) bool {
	s := lease.Spec
	if s.HolderIdentity == nil || *s.HolderIdentity == "" || s.RenewTime == nil || s.LeaseDurationSeconds == nil {
		return false
	}
	return now.Before(s.RenewTime.Add(time.Duration(*s.LeaseDurationSeconds) * time.Second))
}

func epochOf(lease *coordinationv1.Lease) uint64 {
	epoch, err := strconv.ParseUint(lease.Annotations[AnnotationEpoch], 10, 64)
	if err != nil {
		return 0
	}
	return epoch
}

// neverHeld: nobody announced a coordinator on the lease, nor did it ever change hands.
func neverHeld(lease *coordinationv1.Lease) bool {
	_, announced := lease.Annotations[AnnotationEpoch]
	return !announced && ptr.Deref(lease.Spec.LeaseTransitions, 0) == 0
}

// announce writes this replica's address on the lease, on the leader. Until it has, the replica does not
// act as the coordinator: an epoch that is not written down could be given out again.
func (l *leadership) announce(ctx context.Context) error {
	for !l.announced(ctx) && pause(ctx, time.Second) {
	}
	<-ctx.Done()
	return nil
}

func (l *leadership) announced(ctx context.Context) bool {
	err := l.write(ctx)
	if err != nil && ctx.Err() == nil {
		logf.FromContext(ctx).Info("cannot announce the coordinator, trying again", "reason", err.Error())
	}
	return err == nil
}

// write takes the next epoch: max(last+1, unix milliseconds), so that it grows also over the deletion of
// the lease and over a clock that went back.
func (l *leadership) write(ctx context.Context) error {
	var lease coordinationv1.Lease
	if err := l.client.Get(ctx, l.key, &lease); err != nil {
		return fmt.Errorf("read the lease: %w", err)
	}
	epoch := max(epochOf(&lease)+1, uint64(max(l.now().UnixMilli(), 0)))
	changed := lease.DeepCopy()
	if changed.Annotations == nil {
		changed.Annotations = map[string]string{}
	}
	changed.Annotations[AnnotationAddress] = l.address
	changed.Annotations[AnnotationEpoch] = strconv.FormatUint(epoch, 10)
	patch := client.MergeFromWithOptions(&lease, client.MergeFromWithOptimisticLock{})
	if err := l.client.Patch(ctx, changed, patch); err != nil {
		return fmt.Errorf("write the lease: %w", err)
	}
	l.seen.Store(&leader{address: l.address, epoch: epoch, before: epochOf(&lease), self: true, first: neverHeld(&lease)})
	return nil
}

// pause reports whether ctx still lives after d.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
