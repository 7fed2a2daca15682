// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// podsSettle is how long changes of a namespace's pods are gathered: a rollout is many of them.
const podsSettle = time.Second

// workers reconcile namespaces at once.
const workers = 4

// Setup adds the reconciler and its refresher to the manager. env caches what NewEnvCache says.
func Setup(mgr ctrl.Manager, env cache.Cache, r *Reconciler) error {
	if err := r.readSchema(mgr); err != nil {
		return err
	}
	if r.Live == nil {
		r.Live = mgr.GetAPIReader()
	}
	stale, due := make(chan event.GenericEvent), make(chan event.GenericEvent)
	c, err := ctrl.NewControllerManagedBy(mgr).
		Named("ratelimitpolicy").
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Watches(&v1alpha1.RateLimitPolicy{}, byNamespace(), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.Pod{}, podHandler(), builder.WithPredicates(podChanged())).
		Watches(&corev1.ConfigMap{}, byNamespace()).
		Watches(&corev1.Namespace{}, byName(), builder.WithPredicates(namespaceChanged())).
		WatchesRawSource(source.Kind[client.Object](env, &corev1.ConfigMap{}, byNamespace())).
		WatchesRawSource(source.Channel(stale, byName())).
		Build(r)
	if err != nil {
		return fmt.Errorf("set up the controller: %w", err)
	}
	accounts := &accountWatch{mgr: mgr, policies: c, reconciler: r, due: due}
	if err := accounts.ensure(); err != nil {
		return err
	}
	return mgr.Add(&Refresher{reconciler: r, stale: stale, accounts: accounts})
}

func byNamespace() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
		return []reconcile.Request{request(o.GetNamespace())}
	})
}

func byName() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
		return []reconcile.Request{request(o.GetName())}
	})
}

func request(namespace string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: namespace}}
}

// podHandler gathers changes: a request that waits already takes the later ones in.
func podHandler() handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	later := func(q queue, o client.Object) { q.AddAfter(request(o.GetNamespace()), podsSettle) }
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { later(q, e.Object) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) { later(q, e.ObjectNew) },
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) { later(q, e.Object) },
	}
}

// podChanged lets through what a decision could depend on.
func podChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		old, ok := e.ObjectOld.(*corev1.Pod)
		changed, ok2 := e.ObjectNew.(*corev1.Pod)
		if !ok || !ok2 {
			return true
		}
		noImage, notStarted := gatewayFacts(old)
		noImageNow, notStartedNow := gatewayFacts(changed)
		return live(old) != live(changed) || noImage != noImageNow || notStarted != notStartedNow || !maps.Equal(old.Labels, changed.Labels) ||
			!maps.Equal(ourAnnotations(old.Annotations), ourAnnotations(changed.Annotations))
	}}
}

// namespaceChanged lets through labels, which ask for injection and which accounts allow by, and the namespace's end.
func namespaceChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return !maps.Equal(e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels()) ||
			(e.ObjectOld.GetDeletionTimestamp() == nil) != (e.ObjectNew.GetDeletionTimestamp() == nil)
	}}
}
