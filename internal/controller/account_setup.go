// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/policy"
)

// allAccounts is the one request of the controller of accounts.
var allAccounts = request("all")

// setupAccounts adds the controller of accounts; due has it look at all of them.
func setupAccounts(mgr ctrl.Manager, r *Reconciler, due <-chan event.GenericEvent) error {
	all := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{allAccounts}
	})
	err := ctrl.NewControllerManagedBy(mgr).
		Named("provideraccount").
		WithOptions(controller.Options{MaxConcurrentReconciles: 1}).
		Watches(&v1alpha1.ProviderAccount{}, all, builder.WithPredicates(accountChanged())).
		WatchesRawSource(source.Channel(due, all)).
		Complete(NewAccountReconciler(r))
	if err != nil {
		return fmt.Errorf("set up the controller of accounts: %w", err)
	}
	return nil
}

// accountChanged lets through what a plan could depend on: the spec, and limits that were learned.
func accountChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		old, ok := e.ObjectOld.(*v1alpha1.ProviderAccount)
		changed, ok2 := e.ObjectNew.(*v1alpha1.ProviderAccount)
		if !ok || !ok2 {
			return true
		}
		return old.Generation != changed.Generation || (old.DeletionTimestamp == nil) != (changed.DeletionTimestamp == nil) ||
			!reflect.DeepEqual(policy.AccountLimits(old), policy.AccountLimits(changed))
	}}
}

// byAccount enqueues the namespaces whose policies refer to an account.
func (r *Reconciler) byAccount() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		var out []reconcile.Request
		for _, namespace := range r.referring(ctx, o.GetName()) {
			out = append(out, request(namespace))
		}
		return out
	})
}

// referring are the namespaces that have policies with a reference to the account.
func (r *Reconciler) referring(ctx context.Context, account string) []string {
	var policies v1alpha1.RateLimitPolicyList
	// They are read and never changed, so the cache need not copy them.
	if err := r.Client.List(ctx, &policies, client.UnsafeDisableDeepCopy); err != nil {
		logf.FromContext(ctx).Error(err, "finding the policies of an account", "account", account)
		return nil
	}
	found := map[string]bool{}
	for i := range policies.Items {
		p := &policies.Items[i]
		if !found[p.Namespace] && slices.Contains(policy.Accounts(p), account) {
			found[p.Namespace] = true
		}
	}
	out := make([]string, 0, len(found))
	for namespace := range found {
		out = append(out, namespace)
	}
	slices.Sort(out)
	return out
}

// touchedAccounts are those whose users' plans are to be made anew.
type touchedAccounts struct {
	mu    sync.Mutex
	names map[string]bool
	// signal receives when there are any.
	signal chan struct{}
}

func newTouchedAccounts() *touchedAccounts {
	return &touchedAccounts{names: map[string]bool{}, signal: make(chan struct{}, 1)}
}

func (t *touchedAccounts) add(name string) {
	t.mu.Lock()
	t.names[name] = true
	t.mu.Unlock()
	select {
	case t.signal <- struct{}{}:
	default:
	}
}

func (t *touchedAccounts) take() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]string, 0, len(t.names))
	for name := range t.names {
		out = append(out, name)
	}
	clear(t.names)
	return out
}
