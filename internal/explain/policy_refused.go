// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"strings"

	"github.com/headgate-dev/headgate/internal/plan"
)

// refused says which calls are declined, and when.
func (p *page) refused(r plan.Route) {
	if r.Observe {
		return
	}
	p.WriteByte('\n')
	p.line("  Refused at once, with the wait and x-should-retry: false:")
	if len(r.Limits) > 0 && r.Deadline.OnExceeded != plan.Defer {
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
		{"  429 with a longer wait", longer(r.Throttle)},
		{"  429 without a wait", retries(backoff(r.Unguided.BaseMillis, r.Unguided.CapMillis), r.Throttle.MaxAttempts)},
		{"  503, 529, overloads", retries(backoff(r.Overload.BaseMillis, r.Overload.CapMillis), r.Overload.MaxAttempts)},
		{"  a spent quota", "passed on; the route is closed until it is back"},
		{"  4xx", "passed on untouched"},
	})
}

// longer says what becomes of a stated wait above the ceiling, which is never shortened.
func longer(t plan.Throttle) string {
	switch t.OnCeilingExceeded {
	case plan.Defer:
		return "deferred: a stated wait is never shortened"
	case plan.Failover:
		return "made anew at " + t.FailoverTo + ", once, unless something was answered already"
	}
	return "passed on at once: a stated wait is never shortened"
}

// deferred says what becomes of calls that are put off, and for how long.
func (p *page) deferred(r plan.Route) {
	if r.Observe || r.Deferred == nil {
		return
	}
	d := r.Deferred
	p.WriteByte('\n')
	p.line("  Deferred, with 202 and a ticket, and made later without the caller:")
	if r.Deadline.OnExceeded == plan.Defer {
		p.line("  - what cannot start within its deadline, %s or the caller's Headgate-Deadline", duration(millis(r.Deadline.DefaultMillis)))
	}
	if r.Throttle.OnCeilingExceeded == plan.Defer {
		p.line("  - what the provider tells to wait longer than %s", duration(millis(r.Throttle.HonourCeilingMillis)))
	}
	p.line("  Tried for %s and %d times at most; each gateway keeps %d calls and %s. They survive its restart, not its pod's deletion.",
		duration(millis(d.MaxAgeSeconds*1000)), d.MaxAttempts, d.MaxCalls, bytesText(d.MaxBytes))
	if len(d.CallbackHosts) == 0 {
		p.line("  Answers are fetched at the ticket; no host may be called back.")
		return
	}
	p.line("  Answers are fetched at the ticket, or delivered to %s.", strings.Join(d.CallbackHosts, ", "))
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
