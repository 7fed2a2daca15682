// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/policy"
	"github.com/headgate-dev/headgate/internal/status"
)

// decision is what a reconcile concluded; a refresh makes statuses of it again with newer figures.
type decision struct {
	plan plan.Plan
	json []byte
	// views are the parts of each policy's status that reports have no say in, by name.
	views map[string]policyView
	// guaranteed is what each of the namespace's routes on an account is sure of, in percent.
	guaranteed map[string]float64
}

// policyView is one policy as the last reconcile saw it.
type policyView struct {
	generation int64
	outcome    status.Outcome
	compiled   *plan.Policy
	pods       []status.Pod
}

func (r *Reconciler) decide(seen *observed, state *namespace) (*decision, error) {
	pods := candidates(seen.pods, seen.optedIn)
	previous := state.previous(seen)
	in := policy.Inputs{
		Namespace: seen.namespace, ProviderCA: r.ProviderCA, CoordinatorCA: r.bundle(previous),
		Previous: previous, Now: r.Now(), PodsSeen: state.podsSeen, Accounts: seen.accounts,
	}
	policies := seen.policies
	if len(seen.dropped) > 0 {
		policies = withoutSpecs(policies)
	}
	compiled, outcomes := policy.Compile(policies, in)
	matched := newMatcher(&compiled).byPolicy(pods)
	if now := podsSeen(matched); !maps.Equal(now, in.PodsSeen) {
		// Which pods a policy selects is known only once it is compiled.
		in.PodsSeen, state.podsSeen = now, now
		compiled, outcomes = policy.Compile(policies, in)
	}
	if previous == nil && state.revision > 0 {
		// The object that carried the last revision is gone or unreadable; gateways still have it.
		compiled.Revision = max(compiled.Revision, state.revision+1)
	}
	state.revision = max(state.revision, compiled.Revision)
	encoded, err := plan.Encode(compiled)
	if err != nil {
		return nil, fmt.Errorf("encode the plan: %w", err)
	}
	d := &decision{plan: compiled, json: encoded, guaranteed: map[string]float64{}}
	for name, a := range seen.accounts {
		// A namespace's part is divided evenly among its routes on the account.
		d.guaranteed[name] = float64(a.Tenant.GuaranteedPercent) / float64(max(len(usersOf(&compiled)[name].routes), 1))
	}
	d.views = r.views(seen, d, outcomes, matched)
	return d, nil
}

// previous is the plan that was in force: the one that is stored, or the one that could not be, and that connected gateways have.
// Else each look would number it anew, and what it still has of earlier generations would be lost.
func (s *namespace) previous(seen *observed) *plan.Plan {
	if s.unstored && s.decided != nil {
		return &s.decided.plan
	}
	return seen.plan
}

// bundle is the coordinator's CA bundle; until this process has one, what the last plan had, so that a
// restart does not push a plan without any.
func (r *Reconciler) bundle(previous *plan.Plan) string {
	if own := bytes.TrimSpace(r.CoordinatorCA()); len(own) > 0 {
		return string(own) + "\n"
	}
	if previous != nil {
		return previous.CoordinatorCA
	}
	return ""
}

func podsSeen(matched map[string][]*corev1.Pod) map[string]int32 {
	out := make(map[string]int32, len(matched))
	for name, pods := range matched {
		out[name] = int32(len(pods))
	}
	return out
}

func (r *Reconciler) views(seen *observed, d *decision, outcomes []policy.Outcome, matched map[string][]*corev1.Pod) map[string]policyView {
	byName := make(map[string]*plan.Policy, len(d.plan.Policies))
	for i := range d.plan.Policies {
		byName[d.plan.Policies[i].Name] = &d.plan.Policies[i]
	}
	out := make(map[string]policyView, len(outcomes))
	for i, o := range outcomes {
		v := policyView{generation: seen.policies[i].Generation, outcome: accepted(o), compiled: byName[o.Name]}
		if len(seen.dropped) > 0 {
			v.outcome = heldBack(seen.dropped)
		}
		for _, pod := range matched[o.Name] {
			v.pods = append(v.pods, podFacts(pod, seen.optedIn))
			r.webhookSeen(pod)
		}
		out[o.Name] = v
	}
	return out
}

// webhookSeen remembers that the webhook was called for some pod once.
func (r *Reconciler) webhookSeen(pod *corev1.Pod) {
	if injected(pod) || skippedFor(pod) != "" {
		r.called.Store(true)
	}
}

// accepted is the outcome in the words of the condition.
func accepted(o policy.Outcome) status.Outcome {
	switch {
	case len(o.Errors) > 0:
		return status.Outcome{Reason: cmp.Or(o.Account, v1alpha1.ReasonInvalid), Message: problemsIn(o.Errors)}
	case o.TooBig:
		return status.Outcome{Reason: v1alpha1.ReasonPlanTooBig, Message: fmt.Sprintf(
			"The namespace's plan would exceed %d KiB, or %d policies, with this policy; the older ones stay.", plan.MaxBytes>>10, plan.MaxPolicies)}
	case o.OverriddenBy != "":
		return status.Outcome{Reason: v1alpha1.ReasonOverridden, Message: fmt.Sprintf(
			"Policy %s governs all routes of this one, for every pod it selects.", o.OverriddenBy)}
	}
	var lost []string
	for _, l := range o.Overrides {
		lost = append(lost, fmt.Sprintf("Policy %s governs route %s.", l.By, l.Route))
	}
	return status.Outcome{Reason: v1alpha1.ReasonValid, Message: strings.Join(lost, " ")}
}

// maxProblems are told at once; with more, the first are corrected first.
const maxProblems = 3

func problemsIn(errs field.ErrorList) string {
	var all []string
	for _, e := range errs[:min(len(errs), maxProblems)] {
		all = append(all, e.Error())
	}
	if more := len(errs) - maxProblems; more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, "; ") + "."
}
