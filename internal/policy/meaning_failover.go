// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// failoverMeaning allows one hop: to another provider of the policy that speaks the same dialect and does not fail
// over. A call that went on from there could come back, or be made a third time.
func failoverMeaning(path *field.Path, providers []v1alpha1.Provider) field.ErrorList {
	var errs field.ErrorList
	for i := range providers {
		to := failoverOf(&providers[i])
		if to == "" {
			continue
		}
		at := path.Index(i).Child("throttle", "failoverTo")
		if problem := failoverProblem(&providers[i], to, providers); problem != "" {
			errs = append(errs, field.Invalid(at, to, problem))
		}
	}
	return errs
}

func failoverOf(p *v1alpha1.Provider) string {
	return orDefault(p.Throttle, v1alpha1.Throttle{}).FailoverTo
}

func failoverProblem(from *v1alpha1.Provider, to string, providers []v1alpha1.Provider) string {
	i := slices.IndexFunc(providers, func(p v1alpha1.Provider) bool { return p.Name == to })
	if i < 0 {
		return "this policy has no provider of that name: add it, or name another"
	}
	target := &providers[i]
	if ours, theirs := dialectOf(from).Name, dialectOf(target).Name; ours != theirs {
		return fmt.Sprintf("it speaks dialect %s and %s speaks %s, so it would not understand the call: name one of the same dialect",
			theirs, from.Name, ours)
	}
	if failoverOf(target) != "" {
		return "it fails over itself, and a call moves once only: remove its failoverTo, or name another"
	}
	if !hasKey(target) && (hasKey(from) || !sameServer(from, target)) {
		return fmt.Sprintf("%s has no credentialKey, and a key never goes to a server it was not meant for: give %s one", to, to)
	}
	return ""
}

// hasKey says whether calls of some lane of the provider are sent with a key of the gateway's.
func hasKey(p *v1alpha1.Provider) bool {
	return p.CredentialKey != "" || slices.ContainsFunc(p.Lanes, func(l v1alpha1.Lane) bool { return l.CredentialKey != "" })
}

func sameServer(a, b *v1alpha1.Provider) bool {
	ours, err := url.Parse(baseURLOf(a))
	if err != nil {
		return false
	}
	theirs, err := url.Parse(baseURLOf(b))
	return err == nil && strings.EqualFold(ours.Scheme, theirs.Scheme) && strings.EqualFold(ours.Host, theirs.Host)
}
