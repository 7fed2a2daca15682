// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package baseline

import (
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/simulate/world"
)

// Queue is a gateway that counts: the next call goes when all of its limits hold what it is estimated to need, and until
// then nothing behind it does. It passes refusals on, and does not look at deadlines: a caller who left is forgotten when
// it is his turn.
type Queue struct {
	w      *world.World
	routes map[string]*line
}

// line is what waits for one route; it is as long as the callers make it.
type line struct {
	q      *Queue
	limits []counted
	// reserves: the provider takes the most that a call may produce when it lets it in. Else the mean output of so many
	// calls is set aside.
	reserves bool
	output   float64
	answered int

	waiting []*world.Call
	// gone is how many of waiting have left.
	gone int
	// wakes counts the wake-ups that were asked for: only the latest one counts.
	wakes int
}

func newQueue(w *world.World, policy *plan.Policy) *Queue {
	q := &Queue{w: w, routes: map[string]*line{}}
	for _, p := range w.Workload().Providers {
		r, ok := policy.Route(p.Route)
		if !ok {
			continue // the world refuses such a workload before anything happens
		}
		l := &line{q: q, reserves: w.Facts(p.Route).Charges == facts.MaxAtAdmission}
		l.count(r.Limits, w.Workload().InitialLevel)
		q.routes[p.Route] = l
	}
	return q
}

// waiter is the queue's own part of a call.
type waiter struct {
	left, sent bool
	// output is what was set aside for it.
	output float64
}

// Offer implements world.Client.
func (q *Queue) Offer(c *world.Call) {
	l, own := q.routes[c.Route], &waiter{}
	c.Client = own
	l.waiting = append(l.waiting, c)
	if !c.Deadline().IsZero() {
		q.w.After(c.Deadline().Sub(q.w.Now()), func() { l.leave(c, own) })
	}
	l.advance()
}

// leave ends a call whose caller has lost patience while it waits.
func (l *line) leave(c *world.Call, own *waiter) {
	if own.sent {
		return
	}
	own.left = true
	l.gone++
	l.q.w.End(c, world.Outcome{Kind: world.Failed, Reason: world.ReasonLate, Final: true})
	l.advance()
}

// advance sends what may go, in order, and asks to be woken for the next.
func (l *line) advance() {
	for len(l.waiting) > 0 {
		c := l.waiting[0]
		own, _ := c.Client.(*waiter)
		if !own.left {
			wait, ok := l.wait(c)
			if !ok {
				return // a slot that is given back comes here again
			}
			if wait > 0 {
				l.wakes++
				mine := l.wakes
				l.q.w.After(wait, func() {
					if mine == l.wakes {
						l.advance()
					}
				})
				return
			}
		}
		l.waiting[0] = nil
		l.waiting = l.waiting[1:]
		if own.left {
			l.gone--
			continue
		}
		own.sent, own.output = true, l.expected(c)
		l.send(c, own)
	}
}

func (l *line) send(c *world.Call, own *waiter) {
	w := l.q.w
	l.charge(c, own, 1)
	w.Send(c, c.Route, &sent{
		w: w, c: c,
		refused: func(a *world.Answer) {
			l.charge(c, own, -1) // a refusal costs nothing
			w.End(c, world.Outcome{Kind: world.Failed, Reason: status(a), RetryAfter: a.RetryAfter})
			l.advance()
		},
		done: func(a *world.Answer) {
			l.settle(c, own, a.Usage)
			w.After(0, l.advance)
		},
	})
}

// Edit implements world.Governed.
func (q *Queue) Edit(limit string, amount int64) {
	for _, r := range q.order() {
		q.routes[r].edit(limit, amount)
		q.routes[r].advance()
	}
}

// Crash implements world.Governed: there is one queue, and it does not crash.
func (*Queue) Crash(int) {}

// Scale implements world.Governed: it is one for all.
func (*Queue) Scale(int) {}

// Partition implements world.Governed: it has nobody to be cut off from.
func (*Queue) Partition(bool) {}

// Sample implements world.Governed.
func (q *Queue) Sample(tell func(route, lane string, waiting int)) {
	for _, r := range q.order() {
		tell(r, "", len(q.routes[r].waiting)-q.routes[r].gone)
	}
}

// Finish implements world.Governed.
func (*Queue) Finish(*world.Findings) {}
