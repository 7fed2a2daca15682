// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/policy"
	"github.com/headgate-dev/headgate/internal/sidecar"
)

// observed is everything a decision is made of.
type observed struct {
	namespace string
	// terminating, or not there.
	terminating bool
	optedIn     bool
	// labels are the namespace's.
	labels   map[string]string
	policies []v1alpha1.RateLimitPolicy
	// accountRefs are the accounts that the policies refer to, accounts those of them that there are.
	accountRefs []string
	accounts    map[string]policy.Account
	// dropped are fields that the API server dropped, if the policies had them.
	dropped []string
	pods    []corev1.Pod
	// planObject and envObject are nil where there is none.
	planObject, envObject *corev1.ConfigMap
	// plan is planObject's content, nil where it has none that can be read.
	plan *plan.Plan
}

// gone: there is nothing to keep in step, and nothing of ours left to remove.
func (o *observed) gone() bool {
	return o.terminating || (!o.needsPlan() && !ours(o.planObject) && !ours(o.envObject) && !o.optedIn)
}

// gateways reports whether pods have one.
func (o *observed) gateways() bool {
	for i := range o.pods {
		if injected(&o.pods[i]) {
			return true
		}
	}
	return false
}

// needsPlan: there are policies, or gateways. Those need a plan without policies too: it tells them that
// nothing governs their calls any more, and carries the coordinator's certificates.
func (o *observed) needsPlan() bool { return len(o.policies) > 0 || o.gateways() }

func (r *Reconciler) observe(ctx context.Context, name string) (*observed, error) {
	o := &observed{namespace: name}
	if err := r.observeNamespace(ctx, o); err != nil || o.terminating {
		return o, err
	}
	var policies v1alpha1.RateLimitPolicyList
	if err := r.Client.List(ctx, &policies, client.InNamespace(name)); err != nil {
		return nil, fmt.Errorf("list policies: %w", err)
	}
	for i := range policies.Items {
		if policies.Items[i].DeletionTimestamp.IsZero() {
			o.policies = append(o.policies, policies.Items[i])
		}
	}
	if err := r.observeSchema(o); err != nil {
		return nil, err
	}
	var pods corev1.PodList
	// The pods are read and never changed, so the cache need not copy thousands of them.
	if err := r.Client.List(ctx, &pods, client.InNamespace(name), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	o.pods = pods.Items
	if err := r.observeObjects(ctx, o); err != nil {
		return o, err
	}
	return o, r.observeAccounts(ctx, o)
}

func (r *Reconciler) observeSchema(o *observed) (err error) {
	if r.Schema != nil && len(o.policies) > 0 {
		o.dropped, err = r.Schema.Missing()
	}
	return err
}

func (r *Reconciler) observeNamespace(ctx context.Context, o *observed) error {
	var ns corev1.Namespace
	switch err := r.Client.Get(ctx, client.ObjectKey{Name: o.namespace}, &ns); {
	case apierrors.IsNotFound(err):
		o.terminating = true
		return nil
	case err != nil:
		return fmt.Errorf("get the namespace: %w", err)
	}
	o.terminating = !ns.DeletionTimestamp.IsZero()
	o.labels = ns.Labels
	o.optedIn = ns.Labels[v1alpha1.LabelInject] == v1alpha1.InjectEnabled
	return nil
}

func (r *Reconciler) observeObjects(ctx context.Context, o *observed) error {
	var err, envErr error
	o.planObject, err = configMap(ctx, r.Client, o.namespace, sidecar.PlanConfigMap)
	o.envObject, envErr = configMap(ctx, r.Env, o.namespace, sidecar.EnvConfigMap)
	if o.planObject != nil {
		// What cannot be read counts as absent: it is written anew.
		o.plan, _ = plan.Parse([]byte(o.planObject.Data[sidecar.PlanKey]))
	}
	return errors.Join(err, envErr)
}

func configMap(ctx context.Context, from client.Reader, namespace, name string) (*corev1.ConfigMap, error) {
	var cm corev1.ConfigMap
	switch err := from.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &cm); {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // absent is not an error here, and the caller asks for just that
	case err != nil:
		return nil, fmt.Errorf("get ConfigMap %s: %w", name, err)
	}
	return &cm, nil
}
