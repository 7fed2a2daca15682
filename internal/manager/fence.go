// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// fenceSlack is taken off the lease: by so much another replica's clock may run faster while it waits for its end.
const fenceSlack = time.Second

// fence is the lock of the leader election, which notes until when no other replica can hold it. The elector itself
// notices a lost lease only when it next looks, and a process that was paused does not notice at all.
type fence struct {
	resourcelock.Interface
	// pod begins the identities of all processes of this pod; empty where it is not known which pod this is.
	pod   string
	now   func() time.Time
	until atomic.Pointer[time.Time]
}

// newFence locks the lease as the elector would by itself. podUID may be empty.
func newFence(config *rest.Config, namespace, podUID string) (*fence, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("name this replica: %w", err)
	}
	config = rest.AddUserAgent(config, "leader-election")
	// One request that hangs must not lose the lease.
	config.Timeout = renewDeadline / 2
	leases, err := coordinationv1client.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("reach leases: %w", err)
	}
	pod := podPrefix(host, podUID)
	identity := resourcelock.ResourceLockConfig{Identity: cmp.Or(pod, host+"_") + string(uuid.NewUUID())}
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, namespace, LeaseName, nil, leases, identity)
	if err != nil {
		return nil, fmt.Errorf("lock the lease: %w", err)
	}
	return fenced(lock, pod), nil
}

// podPrefix tells pods apart by their UIDs: pods in the network of their node have one host name, and names of pods return.
func podPrefix(host, uid string) string {
	if uid == "" {
		return ""
	}
	return host + "_" + uid + "_"
}

func fenced(lock resourcelock.Interface, pod string) *fence {
	f := &fence{Interface: lock, pod: pod, now: time.Now}
	f.until.Store(&time.Time{})
	return f
}

// Get implements resourcelock.Interface. A lease of an earlier process of this pod is free: a container is started again only
// when it has ended, so that nobody acts under it, and nobody need wait for its end.
func (f *fence) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := f.Interface.Get(ctx)
	if err != nil || !f.diedBefore(record.HolderIdentity) {
		return record, raw, err
	}
	free := *record
	free.HolderIdentity = ""
	return &free, raw, nil
}

// diedBefore reports whether an identity is of an earlier process of this pod.
func (f *fence) diedBefore(identity string) bool {
	return f.pod != "" && identity != f.Identity() && strings.HasPrefix(identity, f.pod)
}

// Create implements resourcelock.Interface.
func (f *fence) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return f.write(ctx, record, f.Interface.Create)
}

// Update implements resourcelock.Interface.
func (f *fence) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return f.write(ctx, record, f.Interface.Update)
}

// write counts the lease from before it is written: others count it from when they see it, which is later. One that is
// given back ends before anybody can take it.
func (f *fence) write(
	ctx context.Context, record resourcelock.LeaderElectionRecord,
	write func(context.Context, resourcelock.LeaderElectionRecord) error,
) error {
	began, own := f.now(), record.HolderIdentity == f.Identity()
	if !own {
		f.until.Store(&began)
	}
	err := write(ctx, record)
	if err == nil && own {
		until := began.Add(time.Duration(record.LeaseDurationSeconds)*time.Second - fenceSlack)
		f.until.Store(&until)
	}
	return err
}

// Until is when another replica may hold the lease; in the past if this one never did.
func (f *fence) Until() time.Time { return *f.until.Load() }
