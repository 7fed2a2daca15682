// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/tokens"
	"github.com/headgate-dev/headgate/internal/policy/decide"
	"github.com/headgate-dev/headgate/internal/simulate/world"
)

// job is one call's way through one gate. A call that fails over or is made later has another.
type job struct {
	g      *gate
	call   *world.Call
	ticket admission.Ticket

	arrived, deadline time.Time
	// sends left, and kept counts those that an overload kept back.
	sends, kept int
	queued      bool
	// probe: the current send tells whether an overload is over; judged: it has told.
	probe, judged bool
	// index is its place in the instance's list, -1 when it is over.
	index int
	// from is the job that this one fails over from; later says that no caller waits.
	from  *job
	later *kept
}

// offer takes a call in.
func (g *gate) offer(c *world.Call) {
	g.begin(&job{g: g, call: c}, g.now().Add(g.patience(c)), -1)
	g.settled()
}

// begin takes a job through admission; a lane below 0 is to be found.
func (g *gate) begin(j *job, deadline time.Time, lane int) {
	j.arrived, j.deadline = g.now(), deadline
	j.index = len(g.inst.jobs)
	g.inst.jobs = append(g.inst.jobs, j)
	c := j.call
	if lane < 0 {
		lane = g.w.LaneOf(c, &g.route.plan)
	}
	bytes := max(1, int64(c.Estimate/tokens.PerByte))
	j.ticket = admission.Ticket{
		Account: g.route.account(lane, c.Model), Lane: lane, Metered: true, Arrival: j.arrived, Deadline: j.deadline,
		Estimate: g.adm.Estimator().Of(&dialect.Request{
			Model: c.Model, Stream: c.Streaming, TextBytes: bytes, TokensPerByte: c.Estimate / float64(bytes),
			MaxOutputTokens: int64(c.MaxTokens),
		}),
		Bytes: bytes, Shadow: g.route.plan.Observe, CallTime: g.attemptTime(deadline.Sub(j.arrived)),
	}
	v := g.adm.Enter(&j.ticket, g.now())
	if j.ticket.Shadow {
		j.send()
		return
	}
	if v.State == budget.Refused && j.makesRoom(v.Reason) {
		v = g.adm.Enter(&j.ticket, g.now())
	}
	j.entered(v)
}

// entered takes in the gate's answer.
func (j *job) entered(v admission.Verdict) {
	if v.State == budget.Queued {
		j.queued = true
		j.g.queued[&j.ticket] = j
		return
	}
	j.decided(v)
}

// decided goes on with a call that waits no longer.
func (j *job) decided(v admission.Verdict) {
	if v.State == budget.Admitted {
		j.send()
		return
	}
	j.declined(string(v.Reason), v.Wait)
}

// send makes an attempt.
func (j *job) send() {
	if !j.allowed() {
		return
	}
	g, now := j.g, j.g.now()
	j.judged = false
	j.sends++
	j.ticket.Sent = now
	if j.sends == 1 {
		g.retries.Call(now)
	}
	if j.later == nil && g.w.Counted(j.call) {
		lane := &g.route.lanes[j.ticket.Lane]
		if j.sends == 1 {
			lane.admitted++
		}
		lane.longest = max(lane.longest, now.Sub(j.arrived))
	}
	g.w.Send(j.call, g.route.plan.Name, j)
}

// declined ends a call that admission refused.
func (j *job) declined(reason string, wait time.Duration) {
	if j.later == nil && j.g.w.Counted(j.call) {
		j.g.route.lanes[j.ticket.Lane].refused++
	}
	if j.elsewhere(reason, wait) {
		return
	}
	j.finish(world.Outcome{Kind: world.Declined, Reason: reason, Final: true, RetryAfter: wait})
}

// finish ends the job, and the call if it is this job's to end.
func (j *job) finish(o world.Outcome) {
	j.over()
	switch {
	case j.later != nil:
		j.made(o)
	case j.from != nil:
		j.cameBack(o)
	default:
		j.g.w.End(j.call, o)
	}
}

// over takes the job out of its instance.
func (j *job) over() {
	if j.index < 0 {
		return
	}
	inst := j.g.inst
	last := len(inst.jobs) - 1
	inst.jobs[j.index] = inst.jobs[last]
	inst.jobs[j.index].index = j.index
	inst.jobs[last] = nil
	inst.jobs = inst.jobs[:last]
	j.index = -1
	inst.left(j.g.c)
}

// lost says that the gateway is gone and with it all that it would do.
func (j *job) lost() bool { return j.g.inst.dead || j.index < 0 }

// decideInput is what is known after a failed attempt.
func (j *job) decideInput(class dialect.Class, wait time.Duration, source dialect.Source, guided bool, now time.Time) decide.Input {
	g := j.g
	in := decide.Input{
		Class: decide.Class(class), Guidance: decide.Guidance{Wait: wait, Source: string(source), Has: guided},
		Attempt: j.sends, Arrived: j.arrived, Now: now, Deadline: j.deadline,
		AttemptTime: g.attemptTime(j.deadline.Sub(j.arrived)), RetriesLeft: g.retries.Left(now),
		Settings: g.settings, Rand: g.w.Chance,
	}
	if j.later != nil {
		// It comes again through the queue of calls without callers.
		in.Settings.MaxAttempts, in.Settings.OverloadMaxAttempts = 1, 1
	}
	return in
}
