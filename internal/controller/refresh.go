// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"bytes"
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// RefreshInterval is how often statuses are compared with what gateways report. It bounds how late an
// acknowledgement shows; how often anything is written is status.Due's.
const RefreshInterval = 2 * time.Second

// Refresher refreshes statuses from reports, on the leader alone.
type Refresher struct {
	reconciler *Reconciler
	// stale takes namespaces whose plan no longer holds what it should.
	stale chan<- event.GenericEvent
	// bundle is the CA bundle that plans were last made with.
	bundle []byte
}

// NeedLeaderElection makes the manager run it on the leader.
func (f *Refresher) NeedLeaderElection() bool { return true }

// Start refreshes until ctx ends. A pass that takes longer than the interval delays the next.
func (f *Refresher) Start(ctx context.Context) error {
	ticker := time.NewTicker(RefreshInterval)
	defer ticker.Stop()
	f.bundle = f.reconciler.CoordinatorCA()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			f.step(ctx)
		}
	}
}

func (f *Refresher) step(ctx context.Context) {
	if bundle := f.reconciler.CoordinatorCA(); !bytes.Equal(bundle, f.bundle) {
		f.bundle = bundle
		f.replan(ctx)
	}
	for _, name := range f.reconciler.namespaces.names() {
		if ctx.Err() != nil {
			return
		}
		if err := f.reconciler.refresh(ctx, name); err != nil {
			logf.FromContext(ctx).Error(err, "refreshing statuses", "namespace", name)
		}
	}
}

// replan has every namespace reconciled: certificates changed, and plans carry the bundle.
func (f *Refresher) replan(ctx context.Context) {
	for _, name := range f.reconciler.namespaces.names() {
		ns := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}}
		select {
		case f.stale <- event.GenericEvent{Object: ns}:
		case <-ctx.Done():
			return
		}
	}
}

// refresh makes the statuses of a namespace again, from the last decision and what is reported now.
func (r *Reconciler) refresh(ctx context.Context, name string) error {
	state := r.namespaces.lock(name)
	defer state.unlock()
	if state.decided == nil || len(state.decided.views) == 0 {
		return nil
	}
	var policies v1alpha1.RateLimitPolicyList
	if err := r.Client.List(ctx, &policies, client.InNamespace(name)); err != nil {
		return err
	}
	state.forgetRaised(policies.Items)
	_, err := r.writeStatuses(ctx, state, policies.Items)
	return err
}
