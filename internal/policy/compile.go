// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Inputs is what a plan depends on beside the policies.
type Inputs struct {
	// Namespace is the tenant's.
	Namespace string
	// PodsSeen counts the pods each policy selects, by the policy's name.
	PodsSeen map[string]int32
	// CoordinatorCA and ProviderCA are PEM bundles; see plan.Plan.
	CoordinatorCA string
	ProviderCA    string
	// Accounts are the ProviderAccounts there are, by name, as the namespace sees them: of those that its policies refer
	// to. One that ValidateAccount refuses is left out.
	Accounts map[string]Account
	// Previous is the plan that this one replaces, nil if none is known.
	Previous *plan.Plan
	// Now numbers a new revision.
	Now time.Time
}

// Outcome says what became of one policy.
type Outcome struct {
	// Name is the policy's.
	Name string
	// Errors keep this generation of the policy out of the plan; the last good one stays in it.
	Errors field.ErrorList
	// Account is AccountNotFound or AccountNotAllowed where Errors are about an account that the policy refers to, else
	// empty. The rest of the policy is in the plan all the same.
	Account string
	// TooBig says that the policy is valid and was left out because the plan would exceed its bound.
	TooBig bool
	// Overrides names the routes of this policy that another policy governs for every pod of this one.
	Overrides []Override
	// OverriddenBy names the policy that governs all of this policy's routes for every pod of this one (the
	// first of them, if several do it together); empty if this policy governs something.
	OverriddenBy string
}

// Override is a route that another policy governs.
type Override struct {
	Route string
	By    string
}

// InPlan says whether this generation of the policy is in the plan.
func (o Outcome) InPlan() bool { return len(o.Errors) == 0 && !o.TooBig }

// Compile makes the plan of one namespace and says what became of each policy, in the order given.
func Compile(policies []v1alpha1.RateLimitPolicy, in Inputs) (plan.Plan, []Outcome) {
	outcomes := make([]Outcome, len(policies))
	compiled := make(map[int]plan.Policy, len(policies))
	for i := range policies {
		errs, account := validateAll(&policies[i], in.Accounts)
		outcomes[i] = Outcome{Name: policies[i].Name, Errors: errs, Account: account}
		before := lastGood(&policies[i], in.Previous)
		if len(errs) == 0 || account != "" {
			compiled[i] = compilePolicy(&policies[i], before, in)
		} else if before != nil {
			compiled[i] = drawAnew(*before, in)
		}
	}
	result := plan.Plan{
		Version: plan.Version, Namespace: in.Namespace,
		CoordinatorCA: in.CoordinatorCA, ProviderCA: in.ProviderCA,
	}
	for _, i := range dropWhatDoesNotFit(result, policies, compiled) {
		outcomes[i].TooBig = true
	}
	for _, i := range precedence(policies, compiled) {
		outcomes[i].Overrides, outcomes[i].OverriddenBy = overrides(compiled[i], result.Policies)
		result.Policies = append(result.Policies, compiled[i])
	}
	result.Version = result.NeededVersion()
	result.Revision = revision(result, in)
	return result, outcomes
}

// validateAll looks at accounts only where the policy itself is sound. An account that cannot be drawn on is no reason to
// free a policy's pods of its own limits.
func validateAll(p *v1alpha1.RateLimitPolicy, accounts map[string]Account) (errs field.ErrorList, account string) {
	if errs = Validate(p); len(errs) > 0 {
		return errs, ""
	}
	if errs, account = ValidateAccounts(p, accounts); account == v1alpha1.ReasonInvalid {
		account = ""
	}
	return errs, account
}

// lastGood is the policy as it stands in the previous plan: an edit that became invalid (the webhook was
// passed by) leaves it in force, since to drop it would free its pods of every limit. It is found by UID,
// for one of the same name may be another.
func lastGood(p *v1alpha1.RateLimitPolicy, previous *plan.Plan) *plan.Policy {
	if previous == nil || p.UID == "" {
		return nil
	}
	for i := range previous.Policies {
		if before := &previous.Policies[i]; before.Name == p.Name && before.UID == string(p.UID) {
			return before
		}
	}
	return nil
}

func revision(next plan.Plan, in Inputs) int64 {
	if in.Previous == nil {
		return plan.NextRevision(0, in.Now)
	}
	if plan.SameContent(next, *in.Previous) {
		return in.Previous.Revision
	}
	return plan.NextRevision(in.Previous.Revision, in.Now)
}

func compilePolicy(p *v1alpha1.RateLimitPolicy, before *plan.Policy, in Inputs) plan.Policy {
	out := plan.Policy{
		Name: p.Name, UID: string(p.UID), Generation: p.Generation,
		Selector: Terms(p.Spec.PodSelector), MaxGateways: maxGateways(p, in),
	}
	for i := range p.Spec.Providers {
		route := compileRoute(&p.Spec.Providers[i], p.Spec.Mode)
		if name := accountRef(&p.Spec.Providers[i]); name != "" {
			draw(&route, name, in, routeOf(before, route.Name))
		}
		out.Routes = append(out.Routes, route)
	}
	return out
}

func routeOf(p *plan.Policy, name string) *plan.Route {
	if p == nil {
		return nil
	}
	for i := range p.Routes {
		if p.Routes[i].Name == name {
			return &p.Routes[i]
		}
	}
	return nil
}

// maxGateways is twice the pods seen, so that a rollout's surge fits. The number in the plan before is kept
// while it is between what is needed and twice that: a plan must not change with every pod that goes.
func maxGateways(p *v1alpha1.RateLimitPolicy, in Inputs) int32 {
	if p.Spec.MaxGateways != nil {
		return *p.Spec.MaxGateways
	}
	seen := min(max(in.PodsSeen[p.Name], 0), maxMaxGateways/2)
	needed := max(defaultMinGateways, 2*seen)
	if in.Previous == nil {
		return needed
	}
	for _, before := range in.Previous.Policies {
		if before.Name == p.Name && before.MaxGateways >= needed && before.MaxGateways <= 2*needed {
			return before.MaxGateways
		}
	}
	return needed
}
