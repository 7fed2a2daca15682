// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/plan"
)

// AccountInputs are all that an account's status is made of. It is the platform team's, so it names namespaces.
type AccountInputs struct {
	Name       string
	Generation int64
	// Problems say what is wrong with the spec; empty if nothing is.
	Problems string
	// Limits are in force, by their names in the account; Declared says that they are the spec's, else they were learned.
	Limits   []plan.Limit
	Declared bool
	// Watched are the limits by which others are learned; none where they are declared.
	Watched []plan.Limit
	// Guaranteed is each tenant's part in percent, by namespace.
	Guaranteed map[string]int32
	// Routes refer to the account and may; Refused are namespaces whose policies do and may not.
	Routes  []AccountRoute
	Refused []string
	// Budgets are the coordinator's; Shared says that it knows the account.
	Budgets ledger.AccountFigures
	Shared  bool
	// Learned are the learned limits to be kept, as Learning.Take says.
	Learned map[string]int64
	// StoreLost is as in Inputs.
	StoreLost time.Time
	// Young says that this process has not listened for long enough to conclude anything from silence.
	Young bool
}

// AccountRoute is a policy's provider that draws on the account.
type AccountRoute struct {
	Namespace, Policy string
	Compiled          *plan.Route
	// Figures are the policy's.
	Figures figures.PolicyFigures
}

// AccountResult is a new status and what to tell.
type AccountResult struct {
	Status v1alpha1.ProviderAccountStatus
	Events []Event
}

// BuildAccount makes the whole status anew; from previous it takes the times of transitions.
func BuildAccount(in AccountInputs, previous v1alpha1.ProviderAccountStatus, now time.Time) AccountResult {
	limits := accountLimits(in)
	set := accountConditions(in, limits)
	s := v1alpha1.ProviderAccountStatus{
		ObservedGeneration: in.Generation,
		Conditions:         set.conditions(in.Generation, previous.Conditions, now),
		Limits:             accountLimitStatuses(limits),
		Namespaces:         accountNamespaces(in, limits),
		Summary:            accountSummary(in, limits, set, now),
	}
	return AccountResult{Status: s, Events: accountEvents(set, previous)}
}

// accountConditionSet is all of them; fields are in the order of status.
type accountConditionSet struct {
	accepted, match, oversubscribed, degraded finding
}

func (s accountConditionSet) conditions(generation int64, previous []metav1.Condition, now time.Time) []metav1.Condition {
	return inOrder(generation, previous, now, []typed{
		{v1alpha1.ConditionAccepted, s.accepted},
		{v1alpha1.ConditionLimitsMatch, s.match},
		{v1alpha1.ConditionOversubscribed, s.oversubscribed},
		{v1alpha1.ConditionDegraded, s.degraded},
	})
}

// accountLimit is one limit: what is in force, and what was seen of it, of all namespaces together.
type accountLimit struct {
	declared plan.Limit
	source   v1alpha1.LimitSource
	window   time.Duration
	per      v1alpha1.Window
	// offered and used are per window; with InFlight, used is the slots in use.
	offered, used float64
	binding       bool
	// known: the provider stated limit and remaining, last.
	known            bool
	limit, remaining float64
	// said counts such answers; least is the least limit of the gateways that sent of late.
	said  int
	least float64
	// shared are the coordinator's figures, nil without.
	shared *ledger.AccountLimitFigures
	// learned is what is kept of a limit that is learned.
	learned int64
}

// accountLimits joins the limits in force, and those that are only watched, with what routes report of them.
func accountLimits(in AccountInputs) []accountLimit {
	var out []accountLimit
	source := v1alpha1.LimitDeclared
	if !in.Declared {
		source = v1alpha1.LimitLearned
	}
	for _, l := range in.Limits {
		out = append(out, accountLimit{declared: l, source: source, learned: in.Learned[l.Name]})
	}
	for _, l := range in.Watched {
		if !hasLimit(out, l.Name) {
			out = append(out, accountLimit{declared: l, source: source, learned: in.Learned[l.Name]})
		}
	}
	for i := range out {
		l := &out[i]
		l.per, l.window = windowName(l.declared.WindowSeconds), time.Duration(l.declared.WindowSeconds)*time.Second
		l.observe(in)
	}
	return out
}

func hasLimit(all []accountLimit, name string) bool {
	for i := range all {
		if all[i].declared.Name == name {
			return true
		}
	}
	return false
}

// observe adds up what the routes report. What the provider said last is told by the route that was called last.
func (l *accountLimit) observe(in AccountInputs) {
	var newest time.Time
	name := in.Name + plan.AccountSeparator + l.declared.Name
	for i := range in.Routes {
		r := &in.Routes[i]
		for _, f := range r.Figures.Limits {
			if f.Provider != r.Compiled.Name || f.Name != name {
				continue
			}
			l.add(f)
			if called := lastCall(r); f.ProviderKnown && (!l.known || called.After(newest)) {
				l.known, l.limit, l.remaining, newest = true, f.ProviderLimit, f.ProviderRemaining, called
			}
		}
	}
	for i := range in.Budgets.Limits {
		if in.Budgets.Limits[i].Name == l.declared.Name {
			l.shared = &in.Budgets.Limits[i]
		}
	}
}

func (l *accountLimit) add(f figures.LimitFigures) {
	if l.declared.Budget == plan.InFlight {
		l.used += f.InUse
	} else {
		l.offered += f.Offered.Per(l.window)
		l.used += f.Used.Per(l.window)
	}
	l.binding = l.binding || f.Binding
	l.said += f.ProviderSaid
	if f.ProviderSaid > 0 && (l.least == 0 || f.ProviderLeast < l.least) {
		l.least = f.ProviderLeast
	}
}

func lastCall(r *AccountRoute) time.Time {
	for _, p := range r.Figures.Providers {
		if p.Name == r.Compiled.Name {
			return p.LastCall
		}
	}
	return time.Time{}
}

// total is the amount in force, 0 while it is only watched.
func (l *accountLimit) total() float64 {
	if l.declared.Watch {
		return 0
	}
	return float64(l.declared.Amount)
}

func (l *accountLimit) state() v1alpha1.LimitState {
	switch {
	case l.binding || l.shared != nil && l.shared.Waiting >= 1:
		return v1alpha1.LimitBinding
	case l.total() > 0 && l.used >= nearFraction*l.total():
		return v1alpha1.LimitNear
	}
	return v1alpha1.LimitFree
}

// rate writes an amount of the limit with its window: 400k/min.
func (l *accountLimit) rate(x float64) string { return string(amount(x)) + perWindow(l.per) }

// busiest is the limit of which most is used; nil if none is in force.
func busiest(limits []accountLimit) *accountLimit {
	var most *accountLimit
	for i := range limits {
		l := &limits[i]
		if l.total() > 0 && (most == nil || l.used/l.total() > most.used/most.total()) {
			most = l
		}
	}
	return most
}

func accountSummary(in AccountInputs, limits []accountLimit, set accountConditionSet, now time.Time) v1alpha1.AccountSummary {
	at := metav1.NewTime(now.Truncate(time.Second))
	s := v1alpha1.AccountSummary{
		BusiestLimit: nothing, FiguresAt: &at, Used: nothing, NextStep: accountNextStep(in, limits, set),
		Gateways: int32(in.Budgets.Holders), Namespaces: int32(len(namespacesOf(in.Routes))),
	}
	if most := busiest(limits); most != nil {
		s.BusiestLimit, s.Used = most.declared.Name, percent(most.used, most.total())
	}
	var sends, refused float64
	for i := range in.Routes {
		for _, p := range in.Routes[i].Figures.Providers {
			if p.Name == in.Routes[i].Compiled.Name {
				sends, refused = sends+float64(p.Sends), refused+float64(p.TooManyRequests)
			}
		}
	}
	s.TooManyRequests = percent(refused, sends)
	for _, t := range in.Budgets.Tenants {
		if t.Waiting >= 1 || t.WaitingCalls > 0 {
			s.Waiting++
		}
	}
	return s
}

func accountLimitStatuses(limits []accountLimit) []v1alpha1.AccountLimitStatus {
	var out []v1alpha1.AccountLimitStatus
	for i := range limits {
		l := &limits[i]
		if l.declared.Watch && l.learned == 0 {
			continue
		}
		s := v1alpha1.AccountLimitStatus{
			Name: l.declared.Name, Per: l.per, Source: l.source, State: l.state(),
			Total: amount(cmp.Or(l.total(), float64(l.learned))), Used: amount(l.used), Value: l.learned,
		}
		if s.State != v1alpha1.LimitFree && l.declared.Budget != plan.InFlight {
			s.Offered = amount(l.offered)
		}
		if l.shared != nil {
			s.Remaining = amount(l.shared.Level)
		}
		if l.known {
			s.RemainingAtProvider, s.TotalAtProvider = amount(l.remaining), amount(l.limit)
			s.ResetIn = l.resetIn()
		}
		out = append(out, s)
	}
	sortByName(out, func(s v1alpha1.AccountLimitStatus) string { return s.Name })
	return out
}

// resetIn is when the provider's bucket is full again: what is missing, at the rate of the limit it states.
func (l *accountLimit) resetIn() v1alpha1.Wait {
	if l.limit <= 0 || l.window <= 0 || l.remaining >= l.limit {
		return ""
	}
	missing := (l.limit - max(l.remaining, 0)) / l.limit
	return wait(time.Duration(missing * float64(l.window)))
}
