// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// selectorMeaning refuses what no label can be: such a selector would match nothing, silently.
func selectorMeaning(path *field.Path, s *v1alpha1.PodSelector) field.ErrorList {
	if s == nil {
		return nil
	}
	var errs field.ErrorList
	labels := path.Child("matchLabels")
	for key, value := range s.MatchLabels {
		errs = append(errs, labelKey(labels.Key(key), key)...)
		errs = append(errs, labelValue(labels.Key(key), value)...)
	}
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) })
	for i := range s.MatchExpressions {
		at := path.Child("matchExpressions").Index(i)
		errs = append(errs, labelKey(at.Child("key"), s.MatchExpressions[i].Key)...)
		for j, value := range s.MatchExpressions[i].Values {
			errs = append(errs, labelValue(at.Child("values").Index(j), value)...)
		}
	}
	return errs
}

func labelKey(path *field.Path, key string) field.ErrorList {
	if problems := validation.IsQualifiedName(key); len(problems) > 0 {
		return field.ErrorList{field.Invalid(path, key, "is no label key, so no pod matches: "+problems[0])}
	}
	return nil
}

func labelValue(path *field.Path, value string) field.ErrorList {
	if problems := validation.IsValidLabelValue(value); len(problems) > 0 {
		return field.ErrorList{field.Invalid(path, value, "is no label value, so no pod matches: "+problems[0])}
	}
	return nil
}

func providerMeaning(path *field.Path, p *v1alpha1.Provider) field.ErrorList {
	route := compileRoute(p, "")
	errs := joinErrs(baseURLMeaning(path, p), behaviourMeaning(path, p, route))
	for i, limit := range route.Limits {
		errs = append(errs, limitMeaning(path.Child("limits").Index(i), limit, dialectOf(p))...)
	}
	return append(errs, lanesMeaning(path.Child("lanes"), p.Lanes, route)...)
}

func baseURLMeaning(path *field.Path, p *v1alpha1.Provider) field.ErrorList {
	at := path.Child("baseURL")
	if p.BaseURL == "" {
		return noBaseURL(at, p, dialectOf(p))
	}
	if problem := baseURLProblem(p.BaseURL); problem != "" {
		return field.ErrorList{field.Invalid(at, withoutSecrets(p.BaseURL), problem)}
	}
	if hasKey(p) && !strings.HasPrefix(strings.ToLower(p.BaseURL), "https:") {
		return field.ErrorList{field.Invalid(at, p.BaseURL, "a key leaves over https only: use https, or remove credentialKey")}
	}
	return nil
}

// noBaseURL asks for the URL of a provider whose dialect has none, and shows what one looks like.
func noBaseURL(at *field.Path, p *v1alpha1.Provider, facts dialect.Facts) field.ErrorList {
	if facts.DefaultBaseURL != "" {
		return nil
	}
	why := "dialect " + facts.Name
	if p.Dialect == "" && facts.Name == dialect.Generic {
		why = fmt.Sprintf("the name %s means no dialect, so that it is Generic, and Generic", p.Name)
	}
	return field.ErrorList{field.Required(at, fmt.Sprintf(
		"%s has no URL of its own: state where calls go, such as %s", why, facts.ExampleBaseURL))}
}

// withoutSecrets keeps what may be a password or a key in a refused URL out of messages and logs.
func withoutSecrets(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "(not shown)"
	}
	if u.User == nil && u.RawQuery == "" && u.Fragment == "" {
		return text
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

func behaviourMeaning(path *field.Path, p *v1alpha1.Provider, route plan.Route) field.ErrorList {
	var errs field.ErrorList
	if route.Deadline.DefaultMillis == 0 {
		errs = append(errs, field.Invalid(path.Child("deadline", "default"), string(p.Deadline.Default),
			"no call can be made in no time: state a longer one, or leave it out for 60s"))
	}
	if u := route.Unguided; u.BaseMillis > u.CapMillis {
		errs = append(errs, aboveDefaultCap(path.Child("unguided"), u.BaseMillis, u.CapMillis))
	}
	if o := route.Overload; o.BaseMillis > o.CapMillis {
		errs = append(errs, aboveDefaultCap(path.Child("overload"), o.BaseMillis, o.CapMillis))
	}
	return errs
}

// aboveDefaultCap is the schema's rule on base and cap with the defaults filled in.
func aboveDefaultCap(path *field.Path, base, ceiling int64) *field.Error {
	return field.Invalid(path, millis(base), fmt.Sprintf("base must not be longer than cap, here %s: state both", millis(ceiling)))
}

// limitMeaning refuses a limit that no call ever fits. 0 is what people write to stop everything.
func limitMeaning(path *field.Path, limit plan.Limit, facts dialect.Facts) field.ErrorList {
	smallest := smallestCall(limit.Budget, facts)
	if limit.Burst == 0 || limit.Burst >= smallest {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("burst"), limit.Burst, fmt.Sprintf(
		"no call ever fits: the smallest takes %d; raise it, or state amount 0 to let nothing pass", smallest))}
}

// smallestCall is the least that any call takes of a budget.
func smallestCall(budget string, facts dialect.Facts) int64 {
	switch budget {
	case plan.InputTokens:
		return facts.SmallestInputTokens
	case plan.Tokens:
		return facts.SmallestInputTokens + 1
	}
	return 1
}

// ambiguousRoutes refuses two providers of one dialect when none has its name: injected variables name the
// built-in route, and which of the two it means would be a guess. A dialect without a default URL has the
// route only where one provider gives it its URL, and with two it simply has none.
func ambiguousRoutes(path *field.Path, providers []v1alpha1.Provider) field.ErrorList {
	var errs field.ErrorList
	for _, facts := range dialect.All() {
		if facts.DefaultBaseURL == "" {
			continue
		}
		var candidates []int
		named := false
		for i := range providers {
			named = named || providers[i].Name == facts.Route
			if dialectOf(&providers[i]).Name == facts.Name {
				candidates = append(candidates, i)
			}
		}
		if named || len(candidates) < 2 {
			continue
		}
		errs = append(errs, field.Invalid(path.Index(candidates[1]).Child("name"), providers[candidates[1]].Name, fmt.Sprintf(
			"calls to the built-in route /%s could mean %s or %s: name one of them %s",
			facts.Route, providers[candidates[0]].Name, providers[candidates[1]].Name, facts.Route)))
	}
	return errs
}
