// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

func selectorSchema(path *field.Path, s *v1alpha1.PodSelector) field.ErrorList {
	if s == nil {
		return nil
	}
	labels, expressions := path.Child("matchLabels"), path.Child("matchExpressions")
	errs := joinErrs(
		tooMany(labels, len(s.MatchLabels), maxMatchLabels),
		tooMany(expressions, len(s.MatchExpressions), maxExpressions),
	)
	for key, value := range s.MatchLabels {
		if key == "" || utf8.RuneCountInString(key) > maxLabelKeyLength || utf8.RuneCountInString(value) > maxLabelValLength {
			errs = append(errs, field.Invalid(labels, key, "a label key has 1 to 317 characters and a value at most 63"))
			break
		}
	}
	for i := range s.MatchExpressions {
		errs = append(errs, expressionSchema(expressions.Index(i), &s.MatchExpressions[i])...)
	}
	return errs
}

func expressionSchema(path *field.Path, e *v1alpha1.PodSelectorTerm) field.ErrorList {
	var errs field.ErrorList
	if e.Key == "" {
		errs = append(errs, field.Required(path.Child("key"), "name a label"))
	}
	values := path.Child("values")
	errs = append(errs, joinErrs(
		text(path.Child("key"), e.Key, 1, maxLabelKeyLength, nil),
		requiredEnum(path.Child("operator"), e.Operator, operators),
		tooMany(values, len(e.Values), maxSelectorValues),
		duplicates(e.Values, func(s string) string { return s }, values.Index),
	)...)
	for i, value := range e.Values {
		errs = append(errs, text(values.Index(i), value, 0, maxLabelValLength, nil)...)
	}
	needsValues := e.Operator == v1alpha1.SelectorIn || e.Operator == v1alpha1.SelectorNotIn
	if needsValues != (len(e.Values) > 0) {
		errs = append(errs, field.Invalid(path, string(e.Operator),
			"values are required with In and NotIn, and forbidden with Exists and DoesNotExist"))
	}
	return errs
}

func providersSchema(path *field.Path, providers []v1alpha1.Provider) field.ErrorList {
	if len(providers) == 0 {
		return field.ErrorList{field.Required(path, "name at least one provider")}
	}
	errs := joinErrs(
		tooMany(path, len(providers), maxProviders),
		duplicates(providers, func(p v1alpha1.Provider) string { return p.Name }, path.Index),
	)
	for i := range providers {
		errs = append(errs, providerSchema(path.Index(i), &providers[i])...)
	}
	return errs
}

func providerSchema(path *field.Path, p *v1alpha1.Provider) field.ErrorList {
	return joinErrs(
		deferSchema(path, p),
		failoverSchema(path, p),
		shortName(path.Child("name"), p.Name, routePattern),
		enum(path.Child("dialect"), p.Dialect, dialects),
		text(path.Child("baseURL"), p.BaseURL, minBaseURLLength, maxBaseURLLength, nil),
		enum(path.Child("mode"), p.Mode, modes),
		keyName(path.Child("credentialKey"), p.CredentialKey),
		accountRefSchema(path.Child("accountRef"), p.AccountRef),
		enum(path.Child("outage"), p.Outage, outages),
		limitsSchema(path.Child("limits"), p.Limits),
		deadlineSchema(path.Child("deadline"), p.Deadline),
		throttleSchema(path.Child("throttle"), p.Throttle),
		unguidedSchema(path.Child("unguided"), p.Unguided),
		overloadSchema(path.Child("overload"), p.Overload),
		lanesSchema(path.Child("lanes"), p.Lanes),
	)
}

func limitsSchema(path *field.Path, limits []v1alpha1.Limit) field.ErrorList {
	errs := joinErrs(
		tooMany(path, len(limits), maxLimits),
		duplicates(limits, func(l v1alpha1.Limit) string { return l.Name }, path.Index),
	)
	for i := range limits {
		errs = append(errs, limitSchema(path.Index(i), &limits[i])...)
	}
	return errs
}

func limitSchema(path *field.Path, l *v1alpha1.Limit) field.ErrorList {
	inFlight := l.Budget == v1alpha1.BudgetInFlight
	errs := joinErrs(
		shortName(path.Child("name"), l.Name, namePattern),
		requiredEnum(path.Child("budget"), l.Budget, budgets),
		amountSchema(path.Child("amount"), &l.Amount),
		enum(path.Child("per"), l.Per, windows),
		quantity(path.Child("burst"), l.Burst, 0),
		textSet(path.Child("models"), l.Models, maxModelLength, nil),
	)
	if l.Budget != "" && inFlight != (l.Per == "") {
		errs = append(errs, field.Invalid(path, string(l.Per),
			"per is required, except with budget InFlight, where it is forbidden"))
	}
	if inFlight && l.Burst != nil {
		errs = append(errs, field.Invalid(path, l.Burst.String(), "burst is forbidden with budget InFlight"))
	}
	return errs
}

// amountSchema tells an absent amount from 0 by the format, which only a written quantity has.
func amountSchema(path *field.Path, q *resource.Quantity) field.ErrorList {
	if q.Format == "" && q.IsZero() {
		return field.ErrorList{field.Required(path, "state a whole number such as 400k")}
	}
	return quantity(path, q, 0)
}

func deadlineSchema(path *field.Path, d *v1alpha1.Deadline) field.ErrorList {
	if d == nil {
		return nil
	}
	return joinErrs(
		durationText(path.Child("default"), d.Default),
		enum(path.Child("onExceeded"), d.OnExceeded, exceeded),
	)
}

func throttleSchema(path *field.Path, t *v1alpha1.Throttle) field.ErrorList {
	if t == nil {
		return nil
	}
	errs := joinErrs(
		durationText(path.Child("honourCeiling"), t.HonourCeiling),
		enum(path.Child("onCeilingExceeded"), t.OnCeilingExceeded, ceilingExceeded),
		text(path.Child("failoverTo"), t.FailoverTo, 1, maxNameLength, routePattern),
		between(path.Child("jitterPercent"), t.JitterPercent, 0, wholePercent),
		between(path.Child("maxAttempts"), t.MaxAttempts, 1, maxAttemptsAllowed),
	)
	if (t.OnCeilingExceeded == v1alpha1.CeilingFailover) != (t.FailoverTo != "") {
		errs = append(errs, field.Invalid(path, t.FailoverTo,
			"failoverTo is required with onCeilingExceeded: Failover, and forbidden without"))
	}
	return errs
}

func unguidedSchema(path *field.Path, u *v1alpha1.Unguided) field.ErrorList {
	if u == nil {
		return nil
	}
	return joinErrs(
		durationText(path.Child("base"), u.Base),
		durationText(path.Child("cap"), u.Cap),
		enum(path.Child("jitter"), u.Jitter, jitters),
		backoffOrder(path, u.Base, u.Cap),
	)
}

func overloadSchema(path *field.Path, o *v1alpha1.Overload) field.ErrorList {
	if o == nil {
		return nil
	}
	return joinErrs(
		durationText(path.Child("base"), o.Base),
		durationText(path.Child("cap"), o.Cap),
		between(path.Child("maxAttempts"), o.MaxAttempts, 1, maxAttemptsAllowed),
		backoffOrder(path, o.Base, o.Cap),
	)
}
