// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"cmp"
	"context"
	"math"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Gate admits the calls of one route.
type Gate struct {
	facts     *facts.Facts
	estimator *Estimator
	now       func() time.Time
	told      func(*Ticket, Verdict)
	maxBytes  int64
	owned     bool

	mu     sync.Mutex
	sched  *budget.Scheduler
	route  plan.Route
	limits []*limit
	// ids are the limits' buckets.
	ids     []budget.BucketID
	groups  map[metered]*group
	uses    uint64
	decided []*budget.Call
	waiting int
	timer   *time.Timer
	timerAt time.Time
	actuals [maxCosts]budget.Cost
	closed  bool
	// held counts reservations, sends numbers them; mirrors that became known up to the send blind have not seen all.
	held         int
	sends, blind uint64

	// shared gateways divide each limit; shares is nil while none is known.
	shared      bool
	maxGateways int32
	shares      map[string]Share
}

// margin is the part of its patience that a call must have to spare when it is accepted. Under overload the queue is
// always as long as it may be: without one, every estimate that proves too small would make an accepted call late.
const margin = 0.05

// Options say what a gate guards.
type Options struct {
	Facts facts.Facts
	// Shared: other gateways use the same limits; without a share the safe one counts.
	Shared bool
	// Clock tells the time where no caller does; nil is time.Now.
	Clock func() time.Time
	// Decided, if set, is told of each queued ticket that was decided, in place of the ticket's channel, and the gate
	// sets no timer: its owner calls Advance when Next says so. The gate is locked meanwhile: Decided takes note of
	// the ticket and calls the gate later.
	Decided func(*Ticket, Verdict)
	// MaxBytes bounds the bodies of all calls that wait; 0 is no bound.
	MaxBytes int64
	// Owned gates take no lock: whoever owns the gate calls it under one of its own. With it goes Decided, for a timer would
	// call the gate too.
	Owned bool
}

// New returns a gate for route.
func New(opts Options, route plan.Route, maxGateways int32, now time.Time) *Gate {
	g := &Gate{
		facts: &opts.Facts, shared: opts.Shared, estimator: NewEstimator(opts.Facts.Charges),
		groups: map[metered]*group{}, now: opts.Clock, told: opts.Decided, maxBytes: opts.MaxBytes,
		owned: opts.Owned && opts.Decided != nil,
	}
	if g.now == nil {
		g.now = time.Now
	}
	g.route, g.maxGateways = route, maxGateways
	g.sched = budget.New(g.configLocked(), now)
	g.bindLocked()
	return g
}

// Estimator is what the gate has learned of costs.
func (g *Gate) Estimator() *Estimator { return g.estimator }

// Configure puts an edited route in force. Levels and waiting calls are kept; these wait from now on for the limits that
// count them, which may be others than when they came.
func (g *Gate) Configure(route plan.Route, maxGateways int32, now time.Time) {
	g.lock()
	defer g.unlock()
	g.moveLocked(&route)
	g.route, g.maxGateways = route, maxGateways
	for _, grp := range g.groups {
		g.recoverLocked(grp, now)
	}
	cfg, bound := g.configLocked(), false
	cfg.Reprice = func(c *budget.Call) {
		if !bound {
			bound = true
			g.bindLocked()
		}
		if t, ok := c.Owner.(*Ticket); ok {
			g.costsLocked(t, now)
		}
	}
	g.applyLocked(cfg, now)
}

// Foresee notes how the next edit's limits are divided, so that who waits is judged by that and not by safe shares of what is
// added.
func (g *Gate) Foresee(shares map[string]Share) {
	g.lock()
	defer g.unlock()
	g.shares = shares
}

// SetShares divides the limits; nil falls back to the safe share. It does nothing on a lone gateway.
func (g *Gate) SetShares(shares map[string]Share, now time.Time) {
	g.lock()
	defer g.unlock()
	g.shares = shares
	if g.shared {
		g.applyLocked(g.configLocked(), now)
	}
}

func (g *Gate) applyLocked(cfg budget.Config, now time.Time) {
	g.sched.Apply(cfg, now)
	g.bindLocked()
	g.runLocked(now)
}

// configLocked is the scheduler's configuration; mu is held.
func (g *Gate) configLocked() budget.Config {
	cfg := budget.Config{Margin: margin, MaxDepth: maxWaiting, MaxBytes: g.maxBytes}
	former := g.formerLocked()
	for _, l := range g.route.Limits {
		share, _ := g.shareLocked(l)
		b := bucket(l, share)
		switch was := former[l.Name]; {
		case was == nil:
			b.Formerly = "none"
		case was.Name != l.Name:
			b.Formerly = bucketName(was.Name)
		}
		cfg.Buckets = append(cfg.Buckets, b)
	}
	for _, l := range g.route.Lanes {
		cfg.Lanes = append(cfg.Lanes, lane(l))
	}
	return cfg
}

// lane is a plan's lane as the scheduler takes it.
func lane(l plan.Lane) budget.Lane {
	return budget.Lane{
		Name: l.Name, Share: float64(l.SharePermille) / 1000, Priority: l.Priority, Weight: float64(l.Weight),
		Hold: hold(l.HoldMillis), MaxDepth: depth(l.MaxDepth), MaxBytes: l.MaxBytes, MaxWait: millis(l.MaxWaitMillis),
	}
}

// depth is what the scheduler calls a lane's depth: a plan always states it, and to the scheduler 0 is "not stated".
func depth(stated int32) int {
	if stated <= 0 {
		return -1
	}
	return int(stated)
}

// hold is what the scheduler calls a lane's hold: to it 0 is "not stated", and what is below 0 is none.
func hold(stated *int64) time.Duration {
	switch {
	case stated == nil:
		return 0
	case *stated <= 0:
		return -1
	}
	return millis(*stated)
}

// millis saturates: a plan may come from anywhere.
func millis(n int64) time.Duration {
	const most = int64(math.MaxInt64 / time.Millisecond)
	return time.Duration(max(-most, min(n, most))) * time.Millisecond
}

// shareLocked is the gateway's share of a limit, nil for a lone one; safe says that it is the safe share.
// mu is held.
func (g *Gate) shareLocked(l plan.Limit) (share *Share, safe bool) {
	if !g.shared {
		return nil, false
	}
	if s, ok := g.shares[l.Name]; ok {
		return &s, s.Safe
	}
	s := safeShare(l, g.maxGateways)
	return &s, true
}

// bindLocked finds the limits' buckets, keeping the counts of those that stay; mu is held.
func (g *Gate) bindLocked() {
	former := g.formerLocked()
	g.limits, g.ids = make([]*limit, 0, len(g.route.Limits)), g.ids[:0]
	for _, l := range g.route.Limits {
		id, _ := g.sched.Bucket(bucketName(l.Name))
		kept := cmp.Or(former[l.Name], &limit{})
		kept.Limit, kept.id = l, id
		kept.share, kept.safe = g.shareLocked(l)
		g.limits, g.ids = append(g.limits, kept), append(g.ids, id)
	}
}

// Enter asks for t's first send. A queued ticket is decided later: see Wait.
func (g *Gate) Enter(t *Ticket, now time.Time) Verdict {
	g.lock()
	defer g.unlock()
	t.gate = g
	if g.told == nil {
		t.Listen()
	}
	g.addressLocked(t)
	g.costsLocked(t, now)
	t.call.Lane, t.call.Arrival, t.call.Deadline, t.call.Bytes = t.Lane, t.Arrival, t.Deadline, t.Bytes
	t.call.NotBefore, t.call.Owner, t.call.CallTime = time.Time{}, t, t.CallTime
	t.call.Counted = t.Counted
	v := g.sched.Submit(&t.call, now)
	// Whoever enters again, for instance since others made room, asks for no more than before.
	t.Counted, t.call.Counted = true, true
	return g.enteredLocked(t, v, now)
}

// Retry asks for another send, not before a time. The earlier send was settled.
func (g *Gate) Retry(t *Ticket, notBefore, now time.Time) Verdict {
	g.lock()
	defer g.unlock()
	g.costsLocked(t, now)
	v := g.sched.Retry(&t.call, notBefore, now)
	return g.enteredLocked(t, v, now)
}

func (g *Gate) enteredLocked(t *Ticket, v budget.Verdict, now time.Time) Verdict {
	t.charged = 0
	switch v.State {
	case budget.Admitted:
		g.heldLocked(t, now)
		g.rearmLocked(now)
	case budget.Queued:
		g.waiting++
		g.runLocked(now)
	default:
		// It is refused, and nothing has changed.
	}
	return g.describeLocked(t, t.call.Verdict())
}

// Wait blocks until a queued ticket is decided or ctx ends; then the ticket has left the queue.
func (g *Gate) Wait(ctx context.Context, t *Ticket) (Verdict, error) {
	select {
	case <-t.ready:
		return g.Verdict(t), nil
	case <-ctx.Done():
	}
	g.Release(t, Settlement{Kind: NotSent})
	return Verdict{State: budget.Cancelled}, ctx.Err()
}

// Verdict is the latest decision about t.
func (g *Gate) Verdict(t *Ticket) Verdict {
	g.lock()
	defer g.unlock()
	return g.describeLocked(t, t.call.Verdict())
}

// runLocked lets the scheduler decide, wakes who was decided, and sets the timer; mu is held.
func (g *Gate) runLocked(now time.Time) {
	if g.waiting > 0 {
		g.decided = g.sched.Advance(now, g.decided[:0])
		for i, c := range g.decided {
			g.decided[i] = nil
			t, ok := c.Owner.(*Ticket)
			if !ok {
				continue
			}
			if g.learnedLocked(t, now) {
				continue
			}
			g.waiting--
			g.decidedLocked(t, t.call.Verdict(), now)
		}
	}
	g.rearmLocked(now)
}

func (g *Gate) decidedLocked(t *Ticket, v budget.Verdict, now time.Time) {
	if v.State == budget.Admitted {
		g.heldLocked(t, now)
		if t.late != nil {
			g.settleLocked(t, *t.late, now)
		}
	}
	if g.told != nil {
		g.told(t, g.describeLocked(t, v))
		return
	}
	t.Signal()
}

// heldLocked notes that t holds its reservation.
func (g *Gate) heldLocked(t *Ticket, now time.Time) {
	t.held = true
	g.held++
	g.sends++
	t.send = g.sends
	for i := range t.parts {
		if p := &t.parts[i]; p.mirror != nil {
			p.send(t.call.Costs[i].Amount, now)
		}
	}
	g.askedLocked(t, now)
	g.catchUpLocked(t, now)
	g.estimator.started(t.Account.Model)
}

// rearmLocked sets the one timer to the next moment at which something can change; mu is held.
func (g *Gate) rearmLocked(now time.Time) {
	if g.waiting == 0 || g.closed || g.told != nil {
		return
	}
	next, ok := g.sched.Next(now)
	if !ok || next.Equal(g.timerAt) {
		return
	}
	g.timerAt = next
	d := max(next.Sub(now), 0)
	if g.timer == nil {
		g.timer = time.AfterFunc(d, g.tick)
		return
	}
	g.timer.Reset(d)
}

func (g *Gate) tick() {
	g.lock()
	defer g.unlock()
	g.timerAt = time.Time{}
	g.runLocked(g.now())
}

// Advance decides what is due at now, for an owner that keeps the time itself: see Options.Decided.
func (g *Gate) Advance(now time.Time) {
	g.lock()
	defer g.unlock()
	g.runLocked(now)
}

// Next is when Advance should run again; false if nothing waits that time alone would let go.
func (g *Gate) Next(now time.Time) (time.Time, bool) {
	g.lock()
	defer g.unlock()
	if g.waiting == 0 {
		return time.Time{}, false
	}
	return g.sched.Next(now)
}

// Close stops the timer.
func (g *Gate) Close() {
	g.lock()
	defer g.unlock()
	g.closed = true
	if g.timer != nil {
		g.timer.Stop()
	}
}
