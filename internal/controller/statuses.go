// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/status"
)

// sharedInputs are the same for all policies of a namespace.
type sharedInputs struct {
	rejections []status.Rejection
	budgets    ledger.Figures
	storeLost  time.Time
}

// writeStatuses writes the status of each policy that is due. It reports whether a policy had changed in
// the meantime, which is no error: what changed it brings the next reconcile.
func (r *Reconciler) writeStatuses(ctx context.Context, state *namespace, policies []v1alpha1.RateLimitPolicy) (conflict bool, err error) {
	rest := sharedInputs{rejections: r.Reports.Rejections(state.name), budgets: r.budgets(), storeLost: r.storeLost()}
	counts := make(map[string]v1alpha1.GatewayCounts, len(policies))
	defer r.pods.put(state.name, counts)
	var errs []error
	for i := range policies {
		view, ok := state.decided.views[policies[i].Name]
		if !ok || view.generation != policies[i].Generation {
			conflict = conflict || ok // a reconcile of the newer spec is on its way
			continue
		}
		built, err := r.writeStatus(ctx, state, &policies[i], view, rest)
		counts[policies[i].Name] = built.Status.Gateways
		switch {
		case isConflict(err):
			conflict = true
		case client.IgnoreNotFound(err) != nil:
			errs = append(errs, fmt.Errorf("status of %s: %w", policies[i].Name, err))
		}
	}
	return conflict, errors.Join(errs...)
}

// writeStatus builds the status and, if it is due, replaces the one it was made from.
// Events follow a write, so that what was told is what the status says was told.
func (r *Reconciler) writeStatus(ctx context.Context, state *namespace, p *v1alpha1.RateLimitPolicy, view policyView, rest sharedInputs) (status.Result, error) {
	now := r.Now()
	built := status.Build(r.inputs(state, p, view, rest), p.Status, now)
	if !status.Due(p.Status, built, now) {
		return built, nil
	}
	changed := p.DeepCopy()
	changed.Status = built.Status
	patch, err := statusPatch(p, p.Status.Summary.FiguresAt, &changed.Status)
	if err != nil {
		return built, err
	}
	if err := r.Client.Status().Patch(ctx, changed, patch, client.FieldOwner(FieldOwner)); err != nil {
		return built, err
	}
	state.raised[p.UID] = built.Raised
	for _, e := range built.Events {
		r.Recorder.Eventf(p, related(p.Namespace, e.Pod), corev1.EventTypeWarning, e.Reason, "Report", "%s", e.Message)
	}
	return built, nil
}

// related is the pod an event is about, nil for none. Events of one policy and reason that differ in it are
// not taken for one repeated event.
func related(namespace, pod string) runtime.Object {
	if pod == "" {
		return nil
	}
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: pod}}
}

func (r *Reconciler) inputs(state *namespace, p *v1alpha1.RateLimitPolicy, view policyView, rest sharedInputs) status.Inputs {
	in := status.Inputs{
		Namespace: p.Namespace, Name: p.Name, Generation: p.Generation,
		Mode:     cmp.Or(p.Spec.Mode, v1alpha1.ModeEnforce),
		Accepted: view.outcome, Compiled: view.compiled, Pods: view.pods,
		PlanRevision: state.decided.plan.Revision,
		Figures:      r.Reports.Policy(p.Namespace, p.Name, r.Now()),
		Rejections:   rest.rejections,
		Guaranteed:   state.decided.guaranteed,
		StoreLost:    rest.storeLost,
		Budgets:      map[string]ledger.RouteFigures{},
		Learning:     r.Now().Sub(r.started) < learning,
		// A pod of another namespace may show it that this process has not looked at yet.
		WebhookUnseen: !r.called.Load() && r.Now().Sub(r.started) >= learning,
		NotStored:     state.refused,
		Raised:        state.raised[p.UID],
	}
	for i := range p.Spec.Providers {
		name := p.Spec.Providers[i].Name
		in.Providers = append(in.Providers, name)
		if f, ok := rest.budgets.Routes[ledger.Route{Namespace: p.Namespace, Policy: p.Name, Provider: name}]; ok {
			in.Budgets[name] = f
		}
	}
	return in
}

// forgetRaised drops what was raised for policies that are gone.
func (s *namespace) forgetRaised(policies []v1alpha1.RateLimitPolicy) {
	if len(s.raised) <= len(policies) {
		return
	}
	kept := s.raised
	s.raised = map[types.UID][]string{}
	for i := range policies {
		if raised, ok := kept[policies[i].UID]; ok {
			s.raised[policies[i].UID] = raised
		}
	}
}
