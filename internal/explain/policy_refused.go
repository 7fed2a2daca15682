// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"

	"github.com/headgate-dev/headgate/internal/plan"
)

// refused says which calls are declined, and when.
func (p *page) refused(r plan.Route) {
	if r.Observe {
		return
	}
	p.WriteByte('\n')
	p.line("  Refused at once, with the wait and x-should-retry: false:")
	if len(r.Limits) > 0 {
		p.line("  - what cannot start within its deadline, %s or the caller's Headgate-Deadline", duration(millis(r.Deadline.DefaultMillis)))
	}
	for _, l := range r.Limits {
		switch {
		case l.Budget == plan.InFlight && l.Amount == 0, l.Budget != plan.InFlight && l.Burst == 0, l.Budget != plan.InFlight && l.Amount == 0:
			p.line("  - every call%s: limit %s is 0", modelsOf(l), l.Name)
		case countsTokens(l):
			p.line("  - a call%s of more than %s %s, which limit %s never holds", modelsOf(l), amount(float64(l.Burst)), unitWords[l.Budget], l.Name)
		}
	}
	p.line("  - what comes when a lane's queue is full or would be longer than its wait; the least important go first")
	p.line("  - every call while the provider's quota is spent, but for one probe now and then")
}

// failures says what is done with the provider's own refusals.
func (p *page) failures(r plan.Route) {
	if r.Observe {
		return
	}
	p.WriteByte('\n')
	p.line("  When the provider refuses:")
	ceiling := duration(millis(r.Throttle.HonourCeilingMillis))
	p.table([][]string{
		{"  429 with a wait to " + ceiling, retries(fmt.Sprintf("waits it and up to %d%% more", r.Throttle.JitterPercent), r.Throttle.MaxAttempts)},
		{"  429 with a longer wait", "passed on at once: a stated wait is never shortened"},
		{"  429 without a wait", retries(backoff(r.Unguided.BaseMillis, r.Unguided.CapMillis), r.Throttle.MaxAttempts)},
		{"  503, 529, overloads", retries(backoff(r.Overload.BaseMillis, r.Overload.CapMillis), r.Overload.MaxAttempts)},
		{"  a spent quota", "passed on; the route is closed until it is back"},
		{"  4xx", "passed on untouched"},
	})
}

func retries(how string, attempts int32) string {
	if attempts == 1 {
		return "passed on at once: the policy allows one attempt"
	}
	return fmt.Sprintf("%s; %d attempts at most", how, attempts)
}

func backoff(base, ceiling int64) string {
	return "backs off from " + duration(millis(base)) + " doubling to " + duration(millis(ceiling))
}
