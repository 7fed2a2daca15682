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

const (
	// RefreshInterval is how often statuses are compared with what gateways report. How often anything is
	// written is status.Due's.
	RefreshInterval = 5 * time.Second
	// changesSettle is how long changes are gathered: a new plan is acknowledged by many gateways at once.
	changesSettle = 500 * time.Millisecond
)

// Refresher refreshes statuses from reports, on the leader alone.
type Refresher struct {
	reconciler *Reconciler
	// stale takes namespaces whose plan no longer holds what it should.
	stale chan<- event.GenericEvent
	// accounts are watched as soon as their type is served.
	accounts *accountWatch
	// bundle is the CA bundle that plans were last made with.
	bundle []byte
}

// NeedLeaderElection makes the manager run it on the leader.
func (f *Refresher) NeedLeaderElection() bool { return true }

// Start refreshes until ctx ends: what changed at once, everything at each interval. A pass that takes
// longer than the interval delays the next.
func (f *Refresher) Start(ctx context.Context) error {
	ticker := time.NewTicker(RefreshInterval)
	defer ticker.Stop()
	f.bundle = f.reconciler.CoordinatorCA()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-f.reconciler.Reports.Changed():
			f.refresh(ctx, f.changed(ctx))
		case <-f.reconciler.touched.signal:
			f.replanAccounts(ctx)
		case <-ticker.C:
			f.checkBundle(ctx)
			if err := f.accounts.ensure(); err != nil {
				return err
			}
			f.accounts.look(ctx)
			f.refresh(ctx, f.reconciler.namespaces.names())
		}
	}
}

// changed waits for changes to settle, and returns the namespaces they are in.
func (f *Refresher) changed(ctx context.Context) []string {
	select {
	case <-ctx.Done():
	case <-time.After(changesSettle):
	}
	return f.reconciler.Reports.TakeChanged()
}

func (f *Refresher) checkBundle(ctx context.Context) {
	if bundle := f.reconciler.CoordinatorCA(); !bytes.Equal(bundle, f.bundle) {
		f.bundle = bundle
		f.replan(ctx)
	}
}

func (f *Refresher) refresh(ctx context.Context, names []string) {
	for _, name := range names {
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
		send(ctx, f.stale, name)
	}
}

// replanAccounts has the namespaces reconciled whose accounts are divided among another number of gateways.
func (f *Refresher) replanAccounts(ctx context.Context) {
	for _, account := range f.reconciler.touched.take() {
		for _, namespace := range f.reconciler.referring(ctx, account) {
			send(ctx, f.stale, namespace)
		}
	}
	f.accounts.look(ctx)
}

func send(ctx context.Context, to chan<- event.GenericEvent, name string) {
	object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}}
	select {
	case to <- event.GenericEvent{Object: object}:
	case <-ctx.Done():
	}
}

// refresh makes the statuses of a namespace again, from the last decision and what is reported now.
func (r *Reconciler) refresh(ctx context.Context, name string) error {
	state := r.namespaces.find(name)
	if state == nil {
		return nil
	}
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
