// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"net/http"
	"strconv"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/policy/decide"
	"github.com/headgate-dev/headgate/internal/simulate/world"
)

var _ world.Listener = (*job)(nil)

// Headers implements world.Listener: what the proxy does with an answer of any status.
func (j *job) Headers(a *world.Answer) {
	if j.lost() {
		return
	}
	g, now := j.g, j.g.now()
	reading := g.dialect.ReadHeaders(a.Status, a.Header, now)
	g.adm.Observe(&j.ticket, &reading, now)
	if a.Status < http.StatusMultipleChoices {
		g.took(now.Sub(j.ticket.Sent))
		g.adm.Succeeded(&j.ticket)
		j.answered()
		j.judge(decide.Class(dialect.ClassSuccess))
	} else {
		j.refused(a, &reading, now)
	}
	g.settled()
}

// refused decides about an attempt that failed.
func (j *job) refused(a *world.Answer, reading *dialect.Reading, now time.Time) {
	g := j.g
	failure := g.dialect.ReadFailure(a.Status, a.Header, a.Body, reading)
	kind := admission.Rejected
	if failure.Class == dialect.ClassTransient {
		kind = admission.Kept
	}
	j.judge(decide.Class(failure.Class))
	g.adm.ReleaseAt(&j.ticket, admission.Settlement{Kind: kind}, now)
	wait, source, guided := reading.Wait(failure.Class)
	if guided && source == dialect.SourceResetHeader {
		if floor, known := g.adm.Floor(&j.ticket, reading); known {
			wait = floor
		}
	}
	if failure.Class == dialect.ClassThrottle {
		g.adm.Refused(&j.ticket, reading, failure.Budget, wait, guided, now)
	}
	if g.route.plan.Observe {
		j.finish(world.Outcome{Kind: world.Failed, Reason: strconv.Itoa(a.Status), RetryAfter: a.RetryAfter})
		return
	}
	d := decide.Decide(j.decideInput(failure.Class, wait, source, guided, now))
	if d.Action != decide.Retry {
		j.giveUp(a, d.Final, string(d.Reason), max(wait, d.RetryAfter))
		return
	}
	v := g.adm.Retry(&j.ticket, now.Add(d.Wait), now)
	if v.State == budget.Refused {
		j.giveUp(a, true, string(v.Reason), max(d.Floor, v.Wait))
		return
	}
	if d.Charge {
		g.retries.Take(now)
	}
	j.entered(v)
}

// failures are the reasons that are the provider's failure in spite of all retries; others are our own refusals.
var failures = map[decide.Reason]bool{decide.AttemptsExhausted: true, decide.RetryBudget: true}

// giveUp ends a call that is not sent again. ours: an SDK must not try again either.
func (j *job) giveUp(a *world.Answer, ours bool, reason string, wait time.Duration) {
	if ours && j.elsewhere(reason, wait) {
		return
	}
	o := world.Outcome{Kind: world.Declined, Reason: reason, Final: true, RetryAfter: wait}
	switch {
	case !ours:
		o = world.Outcome{Kind: world.Failed, Reason: strconv.Itoa(a.Status), RetryAfter: a.RetryAfter}
	case failures[decide.Reason(reason)]:
		o.Kind = world.Failed
	}
	j.finish(o)
}

// Progress implements world.Listener.
func (j *job) Progress(output float64) {
	if j.lost() {
		return
	}
	j.g.adm.Charge(&j.ticket, output, j.g.now())
	j.g.settled()
}

// Done implements world.Listener.
func (j *job) Done(a *world.Answer) {
	if j.lost() {
		return
	}
	g, now := j.g, j.g.now()
	s := admission.Settlement{Kind: admission.Billed, Usage: a.Usage, Seen: max(0, a.Usage.Output)}
	o := world.Outcome{Kind: world.Succeeded}
	if a.HungUp {
		s.Kind = admission.Kept
		j.judge("")
		o = world.Outcome{Kind: world.Failed, Reason: world.ReasonHungUp, Final: true}
	}
	g.adm.ReleaseAt(&j.ticket, s, now)
	j.finish(o)
	g.settled()
}
