// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
	referee "github.com/headgate-dev/headgate/internal/testing/fakeprovider/bucket"
)

// world is a provider's account, who calls it, and a simulated clock. The provider's bucket is not the engine's.
type world struct {
	now       time.Time
	events    events
	scheduled int
	rand      *rand.Rand
	referee   *referee.Bucket
	rate      float64
	client    client
	// budget is what is metered: tokens are taken at admission and never given back, input tokens as they come.
	budget string

	// roundTo is the step that remaining is rounded to.
	roundTo float64
	// upload, until and rest are the parts of a call's time: to its arrival, to its headers, to its end.
	upload, until, rest func(*rand.Rand) time.Duration
	// forgiving providers refuse nothing: how far below zero the bucket goes is what counts.
	forgiving bool
	// silent providers report nothing but waits.
	silent bool

	sends, refused int
	spent          float64
}

// client decides when calls go.
type client interface {
	offer(c *simCall)
	// headers is told what an answer says, served at its end.
	headers(c *simCall, r *dialect.Reading, refused bool, wait time.Duration)
	served(c *simCall)
}

// simCall is one call: what it is expected to take, what the provider takes, and what of that it reports as used.
type simCall struct {
	ticket                 *Ticket
	estimate, actual, used float64
	sent                   time.Time
	deadline               time.Time
}

type event struct {
	at  time.Time
	seq int
	do  func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	if !e[i].at.Equal(e[j].at) {
		return e[i].at.Before(e[j].at)
	}
	return e[i].seq < e[j].seq
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

func (w *world) after(d time.Duration, do func()) {
	w.scheduled++
	heap.Push(&w.events, event{w.now.Add(d), w.scheduled, do})
}

// runUntil runs what happens until end.
func (w *world) runUntil(end time.Time) {
	for len(w.events) > 0 && w.events[0].at.Before(end) {
		e := heap.Pop(&w.events).(event)
		w.now = e.at
		e.do()
	}
	w.now = end
}

// send is a call's way to the provider and back.
func (w *world) send(c *simCall) {
	w.sends++
	c.sent = w.now
	w.after(w.upload(w.rand), func() {
		refused, wait := false, time.Duration(0)
		if !w.forgiving && !w.referee.Fits(w.now, c.actual) {
			refused = true
			w.refused++
			exact, _ := w.referee.Until(w.now, c.actual)
			wait = max(time.Second, (exact + time.Second - 1).Truncate(time.Second))
		} else {
			w.referee.Take(w.now, c.actual)
			w.spent += c.actual
		}
		w.referee.Arrive(w.now, c.actual)
		r := reading(w.budget, w.referee.Capacity(), math.Floor(max(0, w.referee.Level(w.now))/w.roundTo)*w.roundTo)
		r.Budgets[0].RoundedTo = w.roundTo
		r.Budgets[0].Window = time.Duration(w.referee.Capacity() / w.rate * float64(time.Second))
		if w.silent {
			r = &dialect.Reading{}
		}
		w.after(w.until(w.rand), func() {
			w.client.headers(c, r, refused, wait)
			if !refused {
				w.after(w.rest(w.rand), func() { w.client.served(c) })
			}
		})
	})
}

// gated is a client behind the gate.
type gated struct {
	w     *world
	gate  *Gate
	calls map[*Ticket]*simCall
	// due is when the gate is to be driven next.
	due time.Time
	// went is told of each send, answered of each answer before the gate is.
	went     func(c *simCall)
	answered func(c *simCall, r *dialect.Reading)

	declined, declinedLater int
}

// newGated is a lone gateway of so many input tokens a second, with a burst.
func newGated(w *world, rate, burst float64) *gated {
	d := &gated{w: w, calls: map[*Ticket]*simCall{}}
	f := facts.Facts{Charges: facts.AsProduced, ResetMeans: facts.ResetFull}
	if w.budget == plan.Tokens {
		f.Charges = facts.MaxAtAdmission
	}
	d.gate = New(Options{
		Facts: f,
		Clock: func() time.Time { return w.now },
		Decided: func(t *Ticket, v Verdict) {
			w.after(0, func() { d.decided(t, v, true) })
		},
	}, plan.Route{
		Name:  "anthropic",
		Lanes: []plan.Lane{{Name: "default", SharePermille: 1000, MaxDepth: 256, MaxWaitMillis: 60_000}},
		Limits: []plan.Limit{{
			Name: "tokens", Budget: w.budget, Amount: int64(rate * 60), WindowSeconds: 60, Burst: int64(burst),
		}},
	}, 1, w.now)
	w.client = d
	return d
}

func (d *gated) offer(c *simCall) {
	c.ticket = &Ticket{
		Account: Account{1, "m"}, Metered: true, Arrival: d.w.now, Deadline: c.deadline,
		Estimate: Estimate{Input: c.estimate, InputAtLeast: c.estimate / 2}, CallTime: 100 * time.Millisecond,
	}
	if d.w.budget == plan.Tokens {
		// Half is input, half the largest output.
		c.ticket.Estimate = Estimate{Input: c.estimate - c.actual/2, InputAtLeast: c.actual / 4, Output: c.actual / 2}
	}
	d.calls[c.ticket] = c
	d.decided(c.ticket, d.gate.Enter(c.ticket, d.w.now), false)
}

func (d *gated) decided(t *Ticket, v Verdict, waited bool) {
	c := d.calls[t]
	switch v.State {
	case budget.Admitted:
		t.Sent = d.w.now
		if d.went != nil {
			d.went(c)
		}
		d.w.send(c)
	case budget.Refused:
		delete(d.calls, t)
		d.declined++
		if waited {
			d.declinedLater++
		}
	default:
	}
	d.drive()
}

// drive sees to it that the gate is driven when it says.
func (d *gated) drive() {
	next, ok := d.gate.Next(d.w.now)
	if !ok || d.due.After(d.w.now) && !next.Before(d.due) {
		return
	}
	d.due = next
	d.w.after(next.Sub(d.w.now), func() {
		d.gate.Advance(d.w.now)
		d.drive()
	})
}

func (d *gated) headers(c *simCall, r *dialect.Reading, refused bool, wait time.Duration) {
	if d.answered != nil {
		d.answered(c, r)
	}
	d.gate.Observe(c.ticket, r, d.w.now)
	if refused {
		d.gate.ReleaseAt(c.ticket, Settlement{Kind: Rejected}, d.w.now)
		d.gate.Refused(c.ticket, r, "", wait, true, d.w.now)
		d.decided(c.ticket, d.gate.Retry(c.ticket, d.w.now.Add(wait), d.w.now), false)
		return
	}
	d.gate.Succeeded(c.ticket)
	d.drive()
}

func (d *gated) served(c *simCall) {
	delete(d.calls, c.ticket)
	d.gate.ReleaseAt(c.ticket, Settlement{Kind: Billed, Usage: c.usage()}, d.w.now)
	d.drive()
}

// usage is what a call's answer reports: of tokens half is input.
func (c *simCall) usage() dialect.Usage {
	input := c.actual
	if c.used < c.actual {
		input = c.actual / 2
	}
	return dialect.Usage{Input: int64(input), Output: int64(c.used - input)}
}

// blind is what many do: a bucket of the provider's numbers, and refunds of all that an estimate was too high by, or
// that a refused call had reserved. It never stays above what answers report; one that syncs takes that for the level.
type blind struct {
	w               *world
	syncs           bool
	level, cap, per float64
	at              time.Time
	queue           []*simCall
	due             bool
}

func (b *blind) refill() {
	b.level = min(b.cap, b.level+b.per*b.w.now.Sub(b.at).Seconds())
	b.at = b.w.now
}

func (b *blind) offer(c *simCall) {
	if len(b.queue) < 256 {
		b.queue = append(b.queue, c)
	}
	b.run()
}

func (b *blind) run() {
	b.refill()
	for len(b.queue) > 0 {
		c := b.queue[0]
		if b.level < c.estimate-1e-6 {
			break
		}
		b.queue = b.queue[1:]
		if b.w.now.After(c.deadline) {
			continue
		}
		b.level -= c.estimate
		b.w.send(c)
	}
	if len(b.queue) > 0 && !b.due {
		b.due = true
		wait := time.Duration((b.queue[0].estimate-b.level)/b.per*1e9) + 1
		b.w.after(wait, func() { b.due = false; b.run() })
	}
}

func (b *blind) headers(c *simCall, r *dialect.Reading, refused bool, wait time.Duration) {
	b.refill()
	b.level = min(b.level, r.Budgets[0].Remaining)
	if b.syncs {
		b.level = r.Budgets[0].Remaining
	}
	if refused {
		b.level = min(b.cap, b.level+c.estimate)
		b.w.after(wait, func() { b.queue = append([]*simCall{c}, b.queue...); b.run() })
	}
	b.run()
}

func (b *blind) served(c *simCall) {
	b.refill()
	b.level = min(b.cap, b.level+c.estimate-c.used)
	b.run()
}
