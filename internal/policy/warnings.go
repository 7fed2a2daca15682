// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"net/url"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Warnings says what is legal in a policy and probably not meant, and what to do about it. It is empty for a
// policy that Validate refuses.
func Warnings(p *v1alpha1.RateLimitPolicy) []string {
	if len(Validate(p)) > 0 {
		return nil
	}
	var out []string
	providers := field.NewPath("spec", "providers")
	for i := range p.Spec.Providers {
		provider := &p.Spec.Providers[i]
		w := warner{path: providers.Index(i), provider: provider, route: compileRoute(provider, p.Spec.Mode)}
		w.url()
		w.name()
		w.times()
		w.limits()
		w.lanes()
		w.instead(p.Spec.Providers)
		out = append(out, w.out...)
	}
	return out
}

// warner looks at one provider.
type warner struct {
	path     *field.Path
	provider *v1alpha1.Provider
	route    plan.Route
	out      []string
}

func (w *warner) warn(path *field.Path, format string, args ...any) {
	w.out = append(w.out, path.String()+": "+fmt.Sprintf(format, args...))
}

func (w *warner) url() {
	u, err := url.Parse(w.route.BaseURL)
	if err == nil && u.Scheme == "http" && isPublic(u) {
		w.warn(w.path.Child("baseURL"),
			"prompts and keys travel unencrypted to %s, which looks public: use https", u.Hostname())
	}
}

// name finds a provider whose name or host says another dialect than it has.
func (w *warner) name() {
	facts, ok := dialect.Find(w.route.Name)
	if ok && facts.BuiltIn() && facts.Name != w.route.Dialect {
		w.warn(w.path.Child("name"), "the name %s means %s, and this route speaks dialect %s: rename it unless that is meant",
			w.route.Name, facts.Name, w.route.Dialect)
	}
	if w.provider.Dialect != "" || w.route.Dialect != dialect.Generic {
		return
	}
	if facts, ok := w.meant(); ok {
		w.warn(w.path.Child("dialect"), "without a dialect the provider %s is Generic, and it looks like %s: state dialect: %s, "+
			"or Generic if that is meant", w.route.Name, facts.Name, facts.Name)
	}
}

// meant is the dialect that the host of a provider tells, or the first part of its name: azure-eu.
func (w *warner) meant() (dialect.Facts, bool) {
	if u, err := url.Parse(w.route.BaseURL); err == nil {
		if facts, ok := dialect.ByHost(hostOf(u)); ok {
			return facts, true
		}
	}
	for i, r := range w.route.Name {
		if r != '-' {
			continue
		}
		if facts, ok := dialect.Find(w.route.Name[:i]); ok && facts.BuiltIn() {
			return facts, true
		}
	}
	return dialect.Facts{}, false
}

func (w *warner) times() {
	deadline, ceiling := w.route.Deadline.DefaultMillis, w.route.Throttle.HonourCeilingMillis
	stated := w.provider.Throttle != nil && w.provider.Throttle.HonourCeiling != ""
	if stated && ceiling > deadline {
		w.warn(w.path.Child("throttle", "honourCeiling"),
			"%s is longer than the deadline %s, so no call waits that long: lower it, or raise deadline.default",
			millis(ceiling), millis(deadline))
	}
}

func (w *warner) limits() {
	facts := dialectOf(w.provider)
	for i, limit := range w.route.Limits {
		at := w.path.Child("limits").Index(i)
		switch {
		case limit.Amount == 0:
			w.warn(at.Child("amount"), "0 lets no call pass: remove the limit if that is not meant")
			continue
		case limit.Burst == 0:
			w.warn(at.Child("burst"), "0 lets no call pass: leave it out for a burst of %s", quantityText(limit.Amount))
			continue
		case limit.WindowSeconds == 0 || limit.WindowSeconds >= plan.CapWindowSeconds:
			continue
		}
		w.tokensApart(at, limit, facts)
		smallest := smallestCall(limit.Budget, facts)
		if wait := limit.Refill(smallest, wholePermille).Milliseconds(); wait > w.route.Deadline.DefaultMillis {
			w.warn(w.path.Child("deadline", "default"),
				"%s is shorter than the smallest wait of limit %s, %s, so once its burst is used calls are refused rather "+
					"than delayed: raise the deadline or the amount", millis(w.route.Deadline.DefaultMillis), limit.Name, millis(wait))
		}
	}
}

// tokensApart finds a limit on the sum of tokens where the provider limits input and output each for itself: it
// holds, and tells nothing of when the provider refuses.
func (w *warner) tokensApart(at *field.Path, limit plan.Limit, facts dialect.Facts) {
	if limit.Budget == plan.Tokens && facts.TokensApart {
		w.warn(at.Child("budget"), "%s limits input and output tokens apart, so that a limit of their sum matches none of its own: "+
			"use InputTokens and OutputTokens unless that is meant", facts.Name)
	}
}
