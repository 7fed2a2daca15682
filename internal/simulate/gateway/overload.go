// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"math"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/policy/decide"
	"github.com/headgate-dev/headgate/internal/simulate/world"
)

// reasonOverloaded is why a call is not sent while its model is overloaded, as in the proxy.
const reasonOverloaded = "Overloaded"

// allowed says whether the call may be sent while its model may be overloaded; else it waits on, or is refused.
func (j *job) allowed() bool {
	g := j.g
	b := g.breakers[j.call.Model]
	if b == nil || g.route.plan.Observe {
		return true
	}
	now := g.now()
	ok, probe := b.Allow(now)
	if ok {
		j.probe = probe
		return true
	}
	j.keepBack(b.Wait(now), now)
	return false
}

// keepBack has an admitted call wait on, with its place and its deadline, longer each time, as often as
// its deadline allows.
func (j *job) keepBack(wait time.Duration, now time.Time) {
	g := j.g
	g.adm.ReleaseAt(&j.ticket, admission.Settlement{Kind: admission.KeptBack}, now)
	j.kept++
	in := j.decideInput(dialect.ClassOverload, wait, "", true, now)
	in.Attempt, in.RetriesLeft = j.sends+j.kept, true
	in.Settings.HonourCeiling, in.Settings.OverloadMaxAttempts = math.MaxInt64, math.MaxInt
	d := decide.Decide(in)
	why := string(d.Reason)
	if d.Action == decide.Retry {
		v := g.adm.Retry(&j.ticket, now.Add(d.Wait), now)
		if v.State != budget.Refused {
			j.entered(v)
			return
		}
		why, wait = string(v.Reason), max(wait, v.Wait)
	}
	if j.elsewhere(why, wait) {
		return
	}
	j.finish(world.Outcome{Kind: world.Declined, Reason: reasonOverloaded, Final: true, RetryAfter: wait})
}

// judge tells the model's breaker how the current send ended, once. A model has a breaker from its first overload on.
func (j *job) judge(class decide.Class) {
	g := j.g
	if j.judged || g.route.plan.Observe {
		return
	}
	j.judged = true
	b := g.breakers[j.call.Model]
	if b == nil {
		if class != decide.Overload {
			return
		}
		b = &decide.Breaker{Rand: g.w.Chance}
		g.breakers[j.call.Model] = b
	}
	b.Record(class, j.probe, g.now())
}
