// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/headgate-dev/headgate/internal/inject"
	"github.com/headgate-dev/headgate/internal/sidecar"
)

// managedBy marks the objects this package owns.
var managedBy = map[string]string{"app.kubernetes.io/managed-by": "headgate"}

// applyPlan keeps the namespace's plan.
func (r *Reconciler) applyPlan(ctx context.Context, seen *observed, state *namespace) error {
	switch {
	case seen.needsPlan():
		data := map[string]string{sidecar.PlanKey: string(state.decided.json)}
		return r.apply(ctx, r.Client, seen.namespace, sidecar.PlanConfigMap, seen.planObject, data)
	case !ours(seen.planObject):
		return nil
	}
	return r.release(ctx, r.Client, seen.planObject, func(key string) bool { return key == sidecar.PlanKey })
}

// applyEnv keeps the base-URL variables for containers that use envFrom: wherever pods may be injected, so
// that they are there before the first.
func (r *Reconciler) applyEnv(ctx context.Context, seen *observed) error {
	if seen.optedIn || len(seen.policies) > 0 || seen.gateways() {
		return r.apply(ctx, r.Env, seen.namespace, sidecar.EnvConfigMap, seen.envObject, inject.EnvData())
	}
	if !ours(seen.envObject) {
		return nil
	}
	variables := inject.EnvData()
	return r.release(ctx, r.Env, seen.envObject, func(key string) bool { _, is := variables[key]; return is })
}

// ours reports whether there is an object that this package has made, or made its own. One of the name may be older.
func ours(cm *corev1.ConfigMap) bool {
	if cm == nil {
		return false
	}
	for key, value := range managedBy {
		if cm.Labels[key] != value {
			return false
		}
	}
	return true
}

// release deletes an object of ours, unless somebody else keeps something in it: then what is ours goes.
func (r *Reconciler) release(ctx context.Context, reader client.Reader, cm *corev1.ConfigMap, own func(key string) bool) error {
	now, held, err := r.holdsTheirs(ctx, cm, own)
	switch {
	case err != nil || now == nil:
		return err
	case !held:
		return r.remove(ctx, reader, now)
	case locked(now):
		return nil // nothing of it can be taken out
	}
	if err := r.Client.Apply(ctx, corev1ac.ConfigMap(cm.Name, cm.Namespace), r.applyOptions(reader)...); err != nil {
		return fmt.Errorf("apply ConfigMap %s: %w", cm.Name, err)
	}
	return nil
}

func (r *Reconciler) applyOptions(reader client.Reader) []client.ApplyOption {
	options := []client.ApplyOption{client.FieldOwner(FieldOwner), client.ForceOwnership}
	if r.cachedElsewhere(reader) {
		options = append(options, client.DisableReadYourWritesConsistency)
	}
	return options
}

// apply writes a ConfigMap if it is not there or not as it should be. One that somebody made immutable can
// never be applied to again, so it is deleted and made anew, unless others keep something in it.
func (r *Reconciler) apply(ctx context.Context, reader client.Reader, namespace, name string, present *corev1.ConfigMap, data map[string]string) error {
	if present != nil && upToDate(present, data) {
		return nil
	}
	if err := r.unlock(ctx, reader, present, func(key string) bool { _, own := data[key]; return own }); err != nil {
		return err
	}
	logf.FromContext(ctx).V(1).Info("applying", "configMap", name)
	want := corev1ac.ConfigMap(name, namespace).WithLabels(managedBy).WithData(data)
	if err := r.Client.Apply(ctx, want, r.applyOptions(reader)...); err != nil {
		return fmt.Errorf("apply ConfigMap %s: %w", name, err)
	}
	return nil
}

// unlock removes an object that can never be applied to.
func (r *Reconciler) unlock(ctx context.Context, reader client.Reader, present *corev1.ConfigMap, own func(key string) bool) error {
	if !locked(present) {
		return nil
	}
	now, held, err := r.holdsTheirs(ctx, present, own)
	switch {
	case err != nil || !locked(now):
		return err
	case held:
		return fmt.Errorf("ConfigMap %s: %w", now.Name, errTheirs)
	}
	return r.remove(ctx, reader, now)
}

// upToDate: what others added beside our keys is not our business, and gateways do not read it.
func upToDate(present *corev1.ConfigMap, data map[string]string) bool {
	if locked(present) {
		return false
	}
	for key, value := range data {
		if present.Data[key] != value {
			return false
		}
	}
	return ours(present)
}

// remove deletes just the object that was seen.
func (r *Reconciler) remove(ctx context.Context, reader client.Reader, cm *corev1.ConfigMap) error {
	uid := cm.UID
	options := []client.DeleteOption{client.Preconditions{UID: &uid}}
	if r.cachedElsewhere(reader) {
		options = append(options, client.DisableReadYourWritesConsistency)
	}
	if err := r.Client.Delete(ctx, cm, options...); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete ConfigMap %s: %w", cm.Name, err)
	}
	return nil
}

// cachedElsewhere: the client would wait for its own cache to see the write, and that cache never sees
// objects that another one holds.
func (r *Reconciler) cachedElsewhere(reader client.Reader) bool {
	return reader != client.Reader(r.Client)
}
