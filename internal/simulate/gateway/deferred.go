// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/policy/decide"
	"github.com/headgate-dev/headgate/internal/simulate/world"
)

// What the gateway does with calls that it makes without their callers, beside what the policy says.
const (
	// atOnce is how many of a route it has in hand at a time.
	atOnce = 4
	// alone is how long one waits in the queue for each of its attempts.
	alone = 10 * time.Minute
	// gaveWay is how long one stays away at least that was not sent, and pace how long the route's others do.
	gaveWay = time.Second
	pace    = time.Second
	// lookAgain is how long one stays away at most that was not sent.
	lookAgain = time.Minute
	// The backoff after attempts that were sent.
	backoffBase = time.Second
	backoffCap  = 5 * time.Minute
	// askedJitter of a wait that the provider asked for is added to it at most.
	askedJitter = 0.25
)

// reasonExpired is why a call without a caller ends that was not made within its age.
const reasonExpired = "Expired"

// kept is a call that was taken in, to be made without its caller.
type kept struct {
	call     *world.Call
	lane     int
	bytes    int64
	expires  time.Time
	attempts int
	// making: it is in a gate's hands. over: it has ended.
	making, over bool
}

// deferred are a gate's calls without callers: those that are due to be tried, and those in hand.
type deferred struct {
	due   []*kept
	count int
	bytes int64
	// inHand are being made; in the gate's queue they give way.
	inHand []*job
	// paced is until when none is tried, after one that was refused, and again is when that is looked at.
	paced, again time.Time
}

// defers says whether the policy keeps a call for later that is refused for reason.
func defers(r *plan.Route, reason string) bool {
	switch reason {
	case string(budget.ReasonDeadline), string(budget.ReasonQueueExpired):
		return r.Deadline.OnExceeded == plan.Defer
	case string(decide.CeilingExceeded):
		return r.Throttle.OnCeilingExceeded == plan.Defer
	}
	return false
}

// putOff keeps a call for later, if the policy says so and there is room.
func (j *job) putOff(reason string) bool {
	g, d := j.g, &j.g.deferred
	r := &g.route.plan
	bounds := r.Deferred
	if !defers(r, reason) || bounds == nil || d.count >= int(bounds.MaxCalls) || d.bytes+j.ticket.Bytes > bounds.MaxBytes {
		return false
	}
	age := time.Duration(bounds.MaxAgeSeconds) * time.Second
	k := &kept{call: j.call, lane: j.ticket.Lane, bytes: j.ticket.Bytes, expires: g.w.Now().Add(age), attempts: j.sends}
	d.count++
	d.bytes += k.bytes
	d.due = append(d.due, k)
	j.over()
	g.w.End(j.call, world.Outcome{Kind: world.Deferred, Reason: reason})
	g.w.After(0, g.makeDeferred)
	g.c.expire(g, k, age)
	return true
}

// expire ends a call when it is too old; one that is being made then may come to its end.
func (c *Client) expire(g *gate, k *kept, age time.Duration) {
	index, name := g.inst.index, g.route.plan.Name
	c.w.After(age, func() {
		if !k.over && !k.making {
			c.instances[index].gates[name].ended(k, world.Outcome{Kind: world.Failed, Reason: reasonExpired})
		}
	})
}

// ended counts a call out.
func (g *gate) ended(k *kept, o world.Outcome) {
	k.over = true
	g.deferred.count--
	g.deferred.bytes -= k.bytes
	g.w.End(k.call, o)
}

// makeDeferred tries calls without callers, a few at a time and in their order.
func (g *gate) makeDeferred() {
	d := &g.deferred
	if g.inst.dead {
		return
	}
	if now := g.w.Now(); d.paced.After(now) {
		if !d.again.After(now) {
			d.again = d.paced
			g.w.After(d.paced.Sub(now), g.makeDeferred)
		}
		return
	}
	for len(d.inHand) < atOnce && len(d.due) > 0 && !d.paced.After(g.w.Now()) {
		k := d.due[0]
		d.due = d.due[1:]
		if k.over {
			continue
		}
		k.making = true
		j := &job{g: g, call: k.call, later: k}
		d.inHand = append(d.inHand, j)
		g.begin(j, g.now().Add(alone), k.lane)
	}
	g.settled()
}

// made takes what became of one attempt at a call without a caller.
func (j *job) made(o world.Outcome) {
	g, k := j.g, j.later
	d, now := &g.deferred, g.w.Now()
	d.remove(j)
	k.making = false
	k.attempts += j.sends
	bounds := g.route.plan.Deferred
	switch {
	case o.Kind == world.Succeeded:
		g.ended(k, o)
	case j.sends > 0 && k.attempts >= int(bounds.MaxAttempts), !k.expires.After(now):
		g.ended(k, o)
	case j.sends == 0:
		d.paced = now.Add(pace)
		g.c.later(g, k, min(max(o.RetryAfter, gaveWay), lookAgain))
	default:
		g.c.later(g, k, g.backoff(k.attempts, o.RetryAfter))
	}
	g.w.After(0, g.makeDeferred)
}

// backoff is the wait after an attempt that was sent: at least what the provider asked for.
func (g *gate) backoff(attempt int, asked time.Duration) time.Duration {
	own := backoffBase
	for range attempt - 1 {
		own = min(2*own, backoffCap)
	}
	own = own/2 + time.Duration(g.w.Chance()*float64(own/2))
	if asked <= 0 {
		return own
	}
	return max(own, asked+time.Duration(g.w.Chance()*askedJitter*float64(max(asked, time.Second))))
}

func (d *deferred) remove(j *job) {
	for i, other := range d.inHand {
		if other == j {
			d.inHand = append(d.inHand[:i], d.inHand[i+1:]...)
			return
		}
	}
}

// later has a call without a caller come again, at whichever incarnation of the gateway there is then.
func (c *Client) later(g *gate, k *kept, wait time.Duration) {
	index, name := g.inst.index, g.route.plan.Name
	c.w.After(wait, func() {
		if k.over {
			return
		}
		again := c.instances[index].gates[name]
		again.deferred.due = append(again.deferred.due, k)
		again.makeDeferred()
	})
}

// inherit takes over what the store of an incarnation that is gone has of calls without callers.
func (g *gate) inherit(from *gate) {
	d := &g.deferred
	d.count, d.bytes = from.deferred.count, from.deferred.bytes
	for _, j := range from.deferred.inHand {
		j.later.attempts += j.sends
		j.later.making = false
		d.due = append(d.due, j.later)
	}
	d.due = append(d.due, from.deferred.due...)
	if len(d.due) > 0 {
		g.w.After(0, g.makeDeferred)
	}
}
