// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/policy"
)

// ErrInvalid says that a policy would be refused.
var ErrInvalid = errors.New("a policy is invalid")

// Policies writes what the policies of a file do, or what is wrong with them. The error is ErrInvalid if any of them
// is invalid.
func Policies(w io.Writer, content []byte) error {
	objects, err := policy.Read(documents(content))
	if err != nil {
		return err
	}
	p := &page{}
	accountsValid := p.accounts(objects.Accounts)
	policiesValid := p.policies(&objects)
	if _, err := io.WriteString(w, p.String()); err != nil {
		return err
	}
	if !accountsValid || !policiesValid {
		return ErrInvalid
	}
	return nil
}

// policies reports whether all would be accepted.
func (p *page) policies(objects *policy.Objects) bool {
	known := accountsOf(objects, "")
	_, outcomes := policy.Compile(objects.Policies, policy.Inputs{Namespace: "default", Accounts: known})
	valid := true
	for i := range objects.Policies {
		if p.Len() > 0 {
			p.WriteString("\n")
		}
		object := &objects.Policies[i]
		if len(outcomes[i].Errors) > 0 {
			valid = false
			p.invalid(object, outcomes[i])
			continue
		}
		p.policyOf(object, outcomes[i], accountsOf(objects, object.Namespace))
	}
	return valid
}

func (p *page) invalid(object *v1alpha1.RateLimitPolicy, outcome policy.Outcome) {
	p.line("Policy %s is invalid and would be refused:", nameOf(object))
	for _, e := range outcome.Errors {
		p.line("  %s", e.Error())
	}
	if outcome.Account == v1alpha1.ReasonAccountNotFound {
		p.line("  An account that is in a cluster is explained with its policies from one file: kubectl get pacct NAME -o yaml prints it.")
	}
}

func (p *page) policyOf(object *v1alpha1.RateLimitPolicy, outcome policy.Outcome, accounts map[string]policy.Account) {
	// Compiled alone, so that no other policy has an influence.
	alone, _ := policy.Compile([]v1alpha1.RateLimitPolicy{*object}, policy.Inputs{Namespace: "default", Accounts: accounts})
	for _, compiled := range alone.Policies {
		p.line("Policy %s governs %s.", nameOf(object), podsOf(compiled.Selector))
	}
	for _, o := range outcome.Overrides {
		p.line("  Not on route %s, which policy %s has for all of its pods.", o.Route, o.By)
	}
	if outcome.TooBig {
		p.line("  There is no room for it beside the other policies of the file.")
	}
	for _, warning := range policy.Warnings(object) {
		p.line("  Warning: %s", warning)
	}
	for _, compiled := range alone.Policies {
		for _, route := range compiled.Routes {
			p.route(route, accounts[route.AccountName()], routesOn(compiled.Routes, route.Account))
		}
	}
}

// routesOn counts the routes that divide a namespace's part of an account.
func routesOn(routes []plan.Route, account string) int {
	n := 0
	for i := range routes {
		if routes[i].Account == account {
			n++
		}
	}
	return n
}

func nameOf(object *v1alpha1.RateLimitPolicy) string {
	if object.Namespace == "" {
		return object.Name
	}
	return object.Namespace + "/" + object.Name
}

// podsOf says which pods a policy selects.
func podsOf(selector []plan.Term) string {
	if len(selector) == 0 {
		return "every injected pod of its namespace"
	}
	return "the injected pods of its namespace that have " + termsOf(selector)
}

// termsOf says which labels a selector wants.
func termsOf(selector []plan.Term) string {
	var terms []string
	for _, t := range selector {
		values := strings.Join(t.Values, ", ")
		switch t.Operator {
		case plan.In:
			terms = append(terms, t.Key+" in ("+values+")")
		case plan.NotIn:
			terms = append(terms, t.Key+" not in ("+values+")")
		case plan.Exists:
			terms = append(terms, t.Key)
		case plan.DoesNotExist:
			terms = append(terms, "no "+t.Key)
		}
	}
	return strings.Join(terms, ", ")
}

// countsTokens are the budgets whose waits depend on a call's size.
func countsTokens(l plan.Limit) bool {
	return slices.Contains([]string{plan.Tokens, plan.InputTokens, plan.OutputTokens}, l.Budget)
}

var unitWords = map[string]string{
	plan.Requests: "calls", plan.Tokens: "tokens", plan.InputTokens: "input tokens", plan.OutputTokens: "output tokens",
	plan.InFlight: "calls at once",
}

var windowWords = map[int64]string{1: "second", 60: "minute", 3600: "hour", 86400: "day"}

// perSecond is the rate at which a limit refills.
func perSecond(l plan.Limit) float64 {
	if l.WindowSeconds == 0 {
		return 0
	}
	return float64(l.Amount) / float64(l.WindowSeconds)
}

// modelsOf says for which models a limit holds.
func modelsOf(l plan.Limit) string {
	if len(l.Models) == 0 {
		return ""
	}
	return fmt.Sprintf(" of models %s", strings.Join(l.Models, ", "))
}
