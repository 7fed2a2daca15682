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

func (w *warner) name() {
	facts, ok := dialect.ByRoute(w.route.Name)
	if ok && facts.DefaultBaseURL != "" && facts.Name != w.route.Dialect {
		w.warn(w.path.Child("name"), "apps that use the %s SDK arrive at this route, which speaks dialect %s: "+
			"rename it unless that is meant", facts.Name, w.route.Dialect)
	}
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
		case limit.WindowSeconds == 0 || limit.WindowSeconds >= capWindowSeconds:
			continue
		}
		smallest := smallestCall(limit.Budget, facts)
		if wait := refillMillis(smallest, limit, wholePermille); wait > w.route.Deadline.DefaultMillis {
			w.warn(w.path.Child("deadline", "default"),
				"%s is shorter than the smallest wait of limit %s, %s, so once its burst is used calls are refused rather "+
					"than delayed: raise the deadline or the amount", millis(w.route.Deadline.DefaultMillis), limit.Name, millis(wait))
		}
	}
}

// capWindowSeconds is the window from which a limit is a cap, which refuses rather than delays.
const capWindowSeconds = 60 * 60

// refillMillis is cost / (r·R), rounded up: how long a lane's share of an empty limit takes to hold cost. It
// is 0 where nothing refills.
func refillMillis(cost int64, limit plan.Limit, sharePermille int32) int64 {
	if limit.Amount == 0 || limit.WindowSeconds == 0 || sharePermille == 0 {
		return 0
	}
	// In floating point: cost, window and the factors together can exceed 64 bits.
	perSecond := float64(limit.Amount) / float64(limit.WindowSeconds) * float64(sharePermille) / wholePermille
	return int64(float64(cost)/perSecond*1000 + 0.999)
}
