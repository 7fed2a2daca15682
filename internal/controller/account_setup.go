// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
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

// accountWatch watches accounts from when their type is served: a manager may be upgraded before the CRDs, and must go on
// with policies meanwhile. Setup and the refresher use it, one after the other.
type accountWatch struct {
	mgr        ctrl.Manager
	policies   controller.Controller
	reconciler *Reconciler
	due        chan event.GenericEvent
	watching   bool
}

// ensure begins to watch, once the type is served.
func (w *accountWatch) ensure() error {
	if w.watching {
		return nil
	}
	kind := v1alpha1.GroupVersion.WithKind("ProviderAccount")
	switch _, err := w.mgr.GetRESTMapper().RESTMapping(kind.GroupKind(), kind.Version); {
	case meta.IsNoMatchError(err):
		return nil
	case err != nil:
		return fmt.Errorf("ask whether accounts are served: %w", err)
	}
	w.watching = true
	err := w.policies.Watch(source.Kind[client.Object](w.mgr.GetCache(), &v1alpha1.ProviderAccount{}, w.reconciler.byAccount(), accountChanged()))
	if err != nil {
		return fmt.Errorf("watch accounts: %w", err)
	}
	return w.control()
}

// control adds the controller of accounts.
func (w *accountWatch) control() error {
	all := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{allAccounts}
	})
	err := ctrl.NewControllerManagedBy(w.mgr).
		Named("provideraccount").
		WithOptions(controller.Options{MaxConcurrentReconciles: 1}).
		Watches(&v1alpha1.ProviderAccount{}, all, builder.WithPredicates(accountChanged())).
		WatchesRawSource(source.Channel(w.due, all)).
		Complete(NewAccountReconciler(w.reconciler))
	if err != nil {
		return fmt.Errorf("set up the controller of accounts: %w", err)
	}
	return nil
}

// look has all accounts' statuses compared with what gateways report, and the coordinator told what is new.
func (w *accountWatch) look(ctx context.Context) {
	if w.watching {
		send(ctx, w.due, allAccounts.Name)
	}
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
