// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/policy"
)

// accountCase is an account's spec and what the schema says of it.
type accountCase struct {
	name string // of the account; empty is acme
	schemaCase
}

func (c accountCase) document() string {
	name := c.name
	if name == "" {
		name = "acme"
	}
	return "apiVersion: headgate.dev/v1alpha1\nkind: ProviderAccount\nmetadata: {name: " + name + "}\nspec:\n  " +
		strings.ReplaceAll(c.spec, "\n", "\n  ") + "\n"
}

func account(fragment string) schemaCase { return schemaCase{spec: "dialect: OpenAI\n" + fragment} }

func (c schemaCase) at(path, message string) accountCase {
	c.path, c.message = path, message
	return accountCase{schemaCase: c}
}

func named(name string, c schemaCase) accountCase { return accountCase{name, c} }

const (
	names       = "spec.allowedNamespaces.names"
	nsLabels    = "spec.allowedNamespaces.selector.matchLabels"
	nsExpr0     = "spec.allowedNamespaces.selector.matchExpressions[0]"
	tenant0     = "spec.tenants[0]"
	tenantsRule = "the tenants' guaranteedPercent add up to more than 100"
)

var accountCases = map[string]accountCase{
	"smallest":             account("").at("", ""),
	"no dialect":           {schemaCase: schemaCase{"maxGateways: 1", "spec.dialect", "Required value"}},
	"unknown dialect":      {schemaCase: schemaCase{"dialect: Klingon", "spec.dialect", "Unsupported value"}},
	"a limit":              account("limits: [{name: tokens, budget: Tokens, amount: 2M, per: Minute, burst: 500k, models: [\"gpt-*\"]}]").at("", ""),
	"no window":            account("limits: [{name: tokens, budget: Tokens, amount: 2M}]").at("spec.limits[0]", perRule),
	"no amount":            account("limits: [{name: tokens, budget: Tokens, per: Minute}]").at("spec.limits[0].amount", ""),
	"half an amount":       account("limits: [{name: tokens, budget: Tokens, per: Minute, amount: \"0.5\"}]").at("spec.limits[0].amount", wholeFrom0),
	"most limits":          account("limits: ["+list(16, "{name: l%d, budget: InFlight, amount: 1}")+"]").at("", ""),
	"too many limits":      account("limits: ["+list(17, "{name: l%d, budget: InFlight, amount: 1}")+"]").at("spec.limits", "Too many"),
	"repeated limit":       account("limits: ["+strings.Repeat("{name: l, budget: InFlight, amount: 1}, ", 2)+"]").at("spec.limits[1]", "Duplicate value"),
	"namespaces":           account("allowedNamespaces: {names: [a, b-1], selector: {matchLabels: {a: b}}}").at("", ""),
	"all namespaces":       account("allowedNamespaces: {selector: {}}").at("", ""),
	"most namespaces":      account("allowedNamespaces: {names: ["+list(256, "n%d")+"]}").at("", ""),
	"too many namespaces":  account("allowedNamespaces: {names: ["+list(257, "n%d")+"]}").at(names, "Too many"),
	"repeated namespace":   account("allowedNamespaces: {names: [a, a]}").at(names+"[1]", "Duplicate value"),
	"empty namespace":      account("allowedNamespaces: {names: [\"\"]}").at(names+"[0]", ""),
	"namespace of a glob":  account("allowedNamespaces: {names: [\"team-*\"]}").at(names+"[0]", "should match"),
	"long namespace":       account("allowedNamespaces: {names: ["+x(64)+"]}").at(names+"[0]", "may not be more than 63"),
	"long label":           account("allowedNamespaces: {selector: {matchLabels: {a: "+x(64)+"}}}").at(nsLabels, labelsRule),
	"In without values":    account("allowedNamespaces: {selector: {matchExpressions: [{key: a, operator: In}]}}").at(nsExpr0, valuesRule),
	"an empty label":       account("allowedNamespaces: {selector: {matchLabels: {a: \"\"}}}").at("", ""),
	"a tenant":             account("tenants: [{namespace: a, guaranteedPercent: 100, lendablePercent: 0, borrowingLimitPercent: 0, weight: 100}]").at("", ""),
	"tenants of all":       account("tenants: [{namespace: a, guaranteedPercent: 50}, {namespace: b, guaranteedPercent: 50}, {namespace: c}]").at("", ""),
	"tenants of more":      account("tenants: [{namespace: a, guaranteedPercent: 51}, {namespace: b, guaranteedPercent: 50}]").at("spec.tenants", tenantsRule),
	"most tenants":         account("tenants: ["+list(128, "{namespace: n%d}")+"]").at("", ""),
	"too many tenants":     account("tenants: ["+list(129, "{namespace: n%d}")+"]").at("spec.tenants", "Too many"),
	"repeated tenant":      account("tenants: [{namespace: a}, {namespace: a}]").at("spec.tenants[1]", "Duplicate value"),
	"tenant of none":       account("tenants: [{weight: 1}]").at(tenant0+".namespace", "Required value"),
	"guarantee above all":  account("tenants: [{namespace: a, guaranteedPercent: 101}]").at(tenant0+".guaranteedPercent", "less than or equal to 100"),
	"guarantee below none": account("tenants: [{namespace: a, guaranteedPercent: -1}]").at(tenant0+".guaranteedPercent", "greater than or equal to 0"),
	"lends above all":      account("tenants: [{namespace: a, lendablePercent: 101}]").at(tenant0+".lendablePercent", "less than or equal to 100"),
	"borrows above all":    account("tenants: [{namespace: a, borrowingLimitPercent: 101}]").at(tenant0+".borrowingLimitPercent", "less than or equal to 100"),
	"no weight":            account("tenants: [{namespace: a, weight: 0}]").at(tenant0+".weight", "greater than or equal to 1"),
	"too much weight":      account("tenants: [{namespace: a, weight: 101}]").at(tenant0+".weight", "less than or equal to 100"),
	"no gateways":          account("maxGateways: 0").at("spec.maxGateways", "greater than or equal to 1"),
	"too many gateways":    account("maxGateways: 10001").at("spec.maxGateways", "less than or equal to 10000"),
	"unknown field":        account("tenants: [{name: a}]").at(tenant0+".name", "unknown field"),
	"a string for a part":  account("tenants: [{namespace: a, guaranteedPercent: \"5\"}]").at(tenant0+".guaranteedPercent", "must be of type integer"),
	"longest name":         named(strings.Repeat("a", 40), account("")),
	"name too long":        named(strings.Repeat("a", 41), schemaCase{"dialect: OpenAI", "metadata.name", "at most 40 characters"}),
	"name with a dot":      named("a.b", schemaCase{"dialect: OpenAI", "metadata.name", "at most 40 characters"}),
}

// Where an account is read from a file no API server looks at it, so that internal/policy must say the same.
func TestValidateAccountAndTheCRDAgree(t *testing.T) {
	for name, tc := range accountCases {
		t.Run(name, func(t *testing.T) {
			document := tc.document()
			server := tc.schemaCase
			if server.path == "metadata.name" {
				server.path = "<nil>" // a rule on the whole object has no field
			}
			checkServer(t, applyDry(t, document), server)
			checkOurs(t, accountVerdict(document), tc.schemaCase)
		})
	}
}

func accountVerdict(document string) []string {
	objects, err := policy.Read([]byte(document))
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, e := range policy.ValidateAccount(&objects.Accounts[0]) {
		out = append(out, e.Error())
	}
	return out
}

var accountRefCases = map[string]schemaCase{
	"an account":            {provider("accountRef: {name: acme-1}"), "", ""},
	"no account's name":     {provider("accountRef: {}"), p0 + ".accountRef.name", "Required value"},
	"empty account's name":  {provider("accountRef: {name: \"\"}"), p0 + ".accountRef.name", ""},
	"account's name":        {provider("accountRef: {name: a.b}"), p0 + ".accountRef.name", "should match"},
	"long account's name":   {provider("accountRef: {name: " + x(41) + "}"), p0 + ".accountRef.name", "may not be more than 40"},
	"a namespace's account": {provider("accountRef: {name: a, namespace: b}"), p0 + ".accountRef.namespace", "unknown field"},
	"an account as a word":  {provider("accountRef: acme"), p0 + ".accountRef", ""},
	"Safe":                  {provider("outage: Safe"), "", ""},
	"LastGrant":             {provider("outage: LastGrant"), "", ""},
	"Open":                  {provider("outage: Open"), "", ""},
	"another outage":        {provider("outage: Closed"), p0 + ".outage", `"Safe", "LastGrant", "Open"`},
}

// What limits are counted in cannot change beneath the policies that refer to an account.
func TestTheDialectOfAnAccountStays(t *testing.T) {
	a := &v1alpha1.ProviderAccount{Spec: v1alpha1.ProviderAccountSpec{Dialect: v1alpha1.DialectOpenAI}}
	a.Name = "stays"
	if err := env.Client.Create(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	a.Spec.Dialect = v1alpha1.DialectAnthropic
	if err := env.Client.Update(t.Context(), a); err == nil || !strings.Contains(err.Error(), "cannot be changed") {
		t.Errorf("an update of the dialect: %v", err)
	}
}
