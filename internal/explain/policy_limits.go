// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/policy"
	"github.com/headgate-dev/headgate/internal/sidecar"
)

// exampleCalls are the sizes whose waits are shown, in tokens.
var exampleCalls = [...]int64{1_000, 10_000, 60_000}

func (p *page) route(r plan.Route, account policy.Account, routes int) {
	r.Limits = slices.DeleteFunc(r.Limits, func(l plan.Limit) bool { return l.Watch })
	p.section(fmt.Sprintf("%s: %s at %s", r.Name, r.Dialect, r.BaseURL))
	p.line("  Apps call http://%s/%s%s.", sidecar.DataAddress, r.Name, variables(r))
	if r.CredentialKey != "" {
		p.line("  The gateway sends the key %q of the Secret %s; the app's own is removed.", r.CredentialKey, "headgate-credentials")
	}
	if r.Observe {
		p.line("  Observes only: it reports what it would do, and never delays, refuses or repeats a call.")
	}
	p.limits(r)
	p.share(r, account, routes)
	p.lanes(r, float64(account.Tenant.GuaranteedPercent)/float64(max(routes, 1)))
	p.refused(r)
	p.deferred(r)
	p.failures(r)
}

// variables are those that injection sets for a route named after its dialect.
func variables(r plan.Route) string {
	f, ok := dialect.ByName(r.Dialect)
	if !ok || f.Route != r.Name || len(f.BaseURLVariables) == 0 {
		return ""
	}
	v := f.BaseURLVariables[0]
	if v.Path == "" {
		return "; injection sets " + v.Name + " to that"
	}
	return "; injection sets " + v.Name + " to that and " + v.Path
}

func (p *page) limits(r plan.Route) {
	if len(r.Limits) == 0 {
		p.line("  No limits of its own: only what the provider reports is obeyed.")
		return
	}
	p.WriteByte('\n')
	p.tableOfLimits(r.Limits)
	if outage, ok := outageWords[r.Outage]; ok {
		p.line("  %s", outage)
	}
}

// outageWords say what is not as usual while no coordinator answers.
var outageWords = map[string]string{
	plan.LastGrant: "While no coordinator answers, a gateway goes on at the rate that it was told last.",
	plan.Open:      "While no coordinator answers, these limits hold no call back; what the provider reports does.",
}

func (p *page) tableOfLimits(limits []plan.Limit) {
	rows := [][]string{{"LIMIT", "ALLOWS", "REFILLS", "BURST", "FROM EMPTY 1k WAITS", "10k", "60k"}}
	for _, l := range limits {
		row := []string{l.Name, allows(l), "-", "-"}
		if l.Budget != plan.InFlight {
			row[2], row[3] = rate(perSecond(l)), amount(float64(l.Burst))
		}
		rows = append(rows, append(row, waits(l)...))
	}
	p.table(rows)
}

func allows(l plan.Limit) string {
	text := amount(float64(l.Amount)) + " " + unitWords[l.Budget]
	if window, ok := windowWords[l.WindowSeconds]; ok {
		text += " per " + window
	}
	return text + modelsOf(l)
}

// waits are how long calls of the example sizes wait for an empty limit.
func waits(l plan.Limit) (out []string) {
	for _, size := range exampleCalls {
		switch {
		case l.Budget == plan.InFlight:
			out = append(out, "-")
		case l.Budget == plan.Requests:
			out = append(out, waitFor(1, l, 1000))
		case size > l.Burst:
			out = append(out, "refused")
		default:
			out = append(out, waitFor(size, l, 1000))
		}
	}
	return out
}

// waitFor is cost / (r·R), r in permille: how long a share of an empty limit takes to hold a call. It is rounded up
// to what is shown.
func waitFor(cost int64, l plan.Limit, sharePermille int32) string {
	r := perSecond(l) * float64(sharePermille) / 1000
	if r == 0 || cost > l.Burst {
		return "never"
	}
	seconds := float64(cost) / r
	if seconds > math.MaxInt32 {
		return "for ever"
	}
	step := time.Millisecond
	if seconds >= 10 {
		step = 100 * time.Millisecond
	}
	return duration(time.Duration(math.Ceil(seconds*float64(time.Second)/float64(step)-1e-6)) * step)
}
