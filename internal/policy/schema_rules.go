// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Bounds and shapes of the markers in api/v1alpha1.
const (
	maxMaxGateways     = 10_000
	maxProviders       = 16
	maxLimits          = 16
	maxSetItems        = 16
	maxModelLength     = 128
	maxDeclaredLanes   = 8
	maxNameLength      = 40
	maxKeyLength       = 63
	minBaseURLLength   = 8
	maxBaseURLLength   = 2048
	maxMatchLabels     = 16
	maxExpressions     = 16
	maxSelectorValues  = 32
	maxLabelKeyLength  = 317
	maxLabelValLength  = 63
	maxAttemptsAllowed = 10
	maxQueueDepth      = 10_000
	wholePercent       = 100
	maxPriority        = 1000
	maxWeight          = 100
	maxPathLength      = 256

	maxTenants           = 128
	maxAllowedNames      = 256
	maxNamespaceLength   = 63
	maxHeaderNameLength  = 63
	maxHeaderValueLength = 256
)

var (
	routePattern = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	namePattern  = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)

	pathPattern        = regexp.MustCompile(`^[/*]`)
	headerNamePattern  = regexp.MustCompile(`^[A-Za-z0-9]([-_A-Za-z0-9]*[A-Za-z0-9])?$`)
	headerValuePattern = regexp.MustCompile(`^[!-~]([ -~]*[!-~])?$`)
	hostPattern        = regexp.MustCompile(`^(\*\.)?([a-z0-9]([-a-z0-9]*[a-z0-9])?\.)+[a-z]([-a-z0-9]*[a-z0-9])?$`)

	modes      = []v1alpha1.Mode{v1alpha1.ModeEnforce, v1alpha1.ModeObserve}
	dialects   = v1alpha1.Dialects()
	keepAlives = []v1alpha1.KeepAlive{v1alpha1.KeepAliveNone, v1alpha1.KeepAlivePings}
	exceeded   = []v1alpha1.Exceeded{v1alpha1.Decline, v1alpha1.Defer}
	jitters    = []v1alpha1.Jitter{v1alpha1.JitterFull, v1alpha1.JitterEqual}
	operators  = []v1alpha1.SelectorOperator{
		v1alpha1.SelectorIn, v1alpha1.SelectorNotIn, v1alpha1.SelectorExists, v1alpha1.SelectorDoesNotExist,
	}
	ceilingExceeded = []v1alpha1.CeilingExceeded{
		v1alpha1.CeilingDecline, v1alpha1.CeilingDefer, v1alpha1.CeilingFailover,
	}
	outages = []v1alpha1.Outage{v1alpha1.OutageSafe, v1alpha1.OutageLastGrant, v1alpha1.OutageOpen}
	budgets = []v1alpha1.Budget{
		v1alpha1.BudgetRequests, v1alpha1.BudgetTokens, v1alpha1.BudgetInputTokens, v1alpha1.BudgetOutputTokens,
		v1alpha1.BudgetInFlight,
	}
	windows = []v1alpha1.Window{
		v1alpha1.WindowSecond, v1alpha1.WindowMinute, v1alpha1.WindowHour, v1alpha1.WindowDay,
	}
)

// enum checks an optional enum.
func enum[T ~string](path *field.Path, value T, allowed []T) field.ErrorList {
	if value == "" || slices.Contains(allowed, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, allowed)}
}

// requiredEnum checks a required one.
func requiredEnum[T ~string](path *field.Path, value T, allowed []T) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(path, fmt.Sprintf("state one of %v", allowed))}
	}
	return enum(path, value, allowed)
}

// between checks an optional number.
func between(path *field.Path, value *int32, low, high int32) field.ErrorList {
	if value == nil || (*value >= low && *value <= high) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *value, fmt.Sprintf("must be from %d to %d", low, high))}
}

// shortName checks a required name of a shape.
func shortName(path *field.Path, value string, pattern *regexp.Regexp) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(path, "give it a name")}
	}
	return text(path, value, 1, maxNameLength, pattern)
}

// text checks an optional string's length in characters and its shape.
func text(path *field.Path, value string, shortest, longest int, pattern *regexp.Regexp) field.ErrorList {
	if value == "" {
		return nil
	}
	switch length := utf8.RuneCountInString(value); {
	case length > longest:
		return field.ErrorList{field.TooLongMaxLength(path, value, longest)}
	case length < shortest:
		return field.ErrorList{field.Invalid(path, value, fmt.Sprintf("must have at least %d characters", shortest))}
	case pattern != nil && !pattern.MatchString(value):
		return field.ErrorList{field.Invalid(path, value, "must match "+pattern.String())}
	}
	return nil
}

// keyName checks the name of a key. What cannot be one is not repeated: it may be the key.
func keyName(path *field.Path, value string) field.ErrorList {
	errs := text(path, value, 1, maxKeyLength, routePattern)
	for _, err := range errs {
		err.BadValue, err.Detail = field.OmitValueType{}, "must name an entry of the Secret headgate-credentials, not be a key: "+routePattern.String()
	}
	return errs
}

// textSet checks a set of at most maxSetItems strings that are not empty.
func textSet(path *field.Path, values []string, longest int, pattern *regexp.Regexp) field.ErrorList {
	errs := joinErrs(
		tooMany(path, len(values), maxSetItems),
		duplicates(values, func(s string) string { return s }, path.Index),
	)
	for i, value := range values {
		if value == "" {
			errs = append(errs, field.Invalid(path.Index(i), value, "must have at least 1 character"))
		}
		errs = append(errs, text(path.Index(i), value, 1, longest, pattern)...)
	}
	return errs
}

// durationText checks an optional duration.
func durationText(path *field.Path, value v1alpha1.Duration) field.ErrorList {
	errs := text(path, string(value), minDurationLength, maxDurationLength, durationPattern)
	for _, err := range errs {
		err.Detail = "must be a time such as 30s, 500ms or 1m30s: at most 16 characters, units h, m, s and ms"
	}
	return errs
}

// backoffOrder is the CEL rule of Unguided and Overload: it speaks of what is stated only.
func backoffOrder(path *field.Path, base, ceiling v1alpha1.Duration) field.ErrorList {
	if base == "" || ceiling == "" || duration(base, 0) <= duration(ceiling, 0) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, string(base), "base must not be longer than cap")}
}

// quantity is the CEL rule of all quantities: a whole number from low to 1T.
func quantity(path *field.Path, q *resource.Quantity, low int64) field.ErrorList {
	if q == nil {
		return nil
	}
	value, ok := q.AsInt64()
	if ok && value >= low && value <= plan.MaxAmount {
		return nil
	}
	return field.ErrorList{field.Invalid(path, q.String(), fmt.Sprintf("must be a whole number from %d to 1T, such as 400k", low))}
}

// tooMany checks the length of a list or map.
func tooMany(path *field.Path, length, most int) field.ErrorList {
	if length <= most {
		return nil
	}
	return field.ErrorList{field.TooMany(path, length, most)}
}

// duplicates finds repeated keys of a list; at names the path of an item.
func duplicates[T any](items []T, key func(T) string, at func(int) *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, item := range items {
		if seen[key(item)] {
			errs = append(errs, field.Duplicate(at(i), key(item)))
		}
		seen[key(item)] = true
	}
	return errs
}
