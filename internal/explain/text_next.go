// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/policy/decide"
)

func (p *page) policy(d dialect.Dialect, resp Response, r Reading) {
	n := r.next(d.Facts(), resp.Received)
	p.section("What a policy's defaults do")
	if n.Decision.Action == decide.Retry {
		p.retry(resp.Received, r, n)
	} else {
		p.giveBack(r, n)
	}
	if r.Class == dialect.ClassThrottle {
		p.line("  Other calls are held only by the budget that is used up, not by this call's wait.")
	}
}

func (p *page) retry(received time.Time, r Reading, n Next) {
	p.line("  Waits %s and sends the call again.", span(n.Decision.Wait, n.Latest.Wait))
	p.line("  The next attempt goes out %s.", moments(received.Add(n.Decision.Wait), received.Add(n.Latest.Wait)))
	attempts := n.Route.Throttle.MaxAttempts
	if r.Class == dialect.ClassOverload {
		attempts = n.Route.Overload.MaxAttempts
	}
	if n.Decision.Source != "" {
		p.line("  The stated wait is a floor, and up to %d%% is added so that callers do not return together; at most %d attempts in %s.",
			n.Route.Throttle.JitterPercent, attempts, duration(millis(n.Route.Deadline.DefaultMillis)))
		return
	}
	p.line("  The wait is an exponential backoff, drawn at random; at most %d attempts in %s.",
		attempts, duration(millis(n.Route.Deadline.DefaultMillis)))
}

func moments(from, to time.Time) string {
	const layout = "15:04:05.000 UTC"
	first, last := from.UTC().Format(layout), to.UTC().Format(layout)
	if from.UTC().YearDay() != to.UTC().YearDay() || first == last {
		return "at " + from.UTC().Format("2006-01-02 "+layout)
	}
	return "between " + first + " and " + last
}

func (p *page) giveBack(r Reading, n Next) {
	if r.InStream && !r.Stream {
		p.line("  Passes the response on as it comes: its status is a success's, and what its body says is known only at its end.")
		return
	}
	p.line("  Passes the response on at once: %s.", reasons[n.Decision.Reason](n))
	switch {
	case r.Class == dialect.ClassQuota:
		p.line("  Later calls get the same answer from the gateway, until %s; status shows the provider's words.", quotaUntil(n))
		p.line("  Adds x-should-retry: false and Retry-After, so that SDKs do not retry in vain.")
	case n.Decision.Final:
		p.line("  Adds x-should-retry: false and Retry-After, so that SDKs do not retry early.")
	}
}

func quotaUntil(n Next) string {
	if n.Decision.RetryAfter > 0 {
		return duration(n.Decision.RetryAfter) + " have passed"
	}
	return "one that is let through now and then succeeds"
}

// reasons say why a call is given back.
var reasons = map[decide.Reason]func(Next) string{
	decide.CeilingExceeded: func(n Next) string {
		return duration(n.Decision.RetryAfter) + " is longer than throttle.honourCeiling, " + duration(millis(n.Route.Throttle.HonourCeilingMillis)) +
			", and a stated wait is never shortened"
	},
	decide.Deadline: func(n Next) string {
		return "the wait does not fit the deadline, " + duration(millis(n.Route.Deadline.DefaultMillis))
	},
	decide.QuotaExhausted: func(Next) string { return "a quota is spent, and a retry cannot help" },
	decide.NotRetryable:   func(Next) string { return "the answer is final" },
	decide.ContentSent: func(Next) string {
		return "part of the answer has reached the client, and another attempt would repeat it"
	},
	decide.MaybeProcessed: func(Next) string {
		return "the provider may have processed the call, so a POST is not repeated (a GET is, after a backoff)"
	},
	decide.BodyGone:          func(Next) string { return "the request is too large to be kept" },
	decide.AttemptsExhausted: func(Next) string { return "no attempts are left" },
	decide.RetryBudget:       func(Next) string { return "the retry budget is used up" },
}

func (p *page) alone(d dialect.Dialect, resp Response, r Reading) {
	rows := [][]string{{"SDK", "WITH ITS DEFAULTS IT", "WHICH IS", "TO SWITCH ITS RETRIES OFF"}}
	for _, a := range r.alone(d, resp) {
		verdict := a.Verdict
		if verdict == "" {
			verdict = "-"
		}
		rows = append(rows, []string{a.SDK, a.Does, verdict, a.Off})
	}
	if len(rows) == 1 {
		return
	}
	p.section("What SDKs do on their own, with nothing between them and the provider")
	p.table(rows)
}
