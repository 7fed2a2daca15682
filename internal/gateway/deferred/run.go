// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package deferred

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/deferred/ticket"
)

// Run makes calls and delivers answers until ctx ends and everything under way has ended.
func (q *Queue) Run(ctx context.Context, m Maker) {
	defer q.work.Wait()
	q.work.Go(func() { q.tend(ctx) })
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-q.wake:
		case <-timer.C:
		}
		timer.Reset(q.dispatch(ctx, m))
	}
}

// Drain begins no more calls, and ends those that have not left. What has left may come to its end.
func (q *Queue) Drain() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.draining = true
	for _, e := range q.entries {
		if e.cancel != nil && !e.sent {
			e.cancel()
		}
	}
}

// tend keeps the store alive, and takes in calls of gateways that are gone.
func (q *Queue) tend(ctx context.Context) {
	ticker := time.NewTicker(tendEvery)
	defer ticker.Stop()
	for {
		q.tendOnce(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// TakeOver takes in calls of gateways that are gone, for who does not run the queue.
func (q *Queue) TakeOver(ctx context.Context) { q.tendOnce(ctx) }

func (q *Queue) tendOnce(ctx context.Context) {
	q.mu.Lock()
	room := maxTickets - len(q.entries)
	if q.draining {
		room = 0
	}
	q.mu.Unlock()
	within, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	q.removeUnwanted(within)
	found, err := q.store.Tend(within, room)
	if err != nil && ctx.Err() == nil {
		q.opts.Log.Error("the store of deferred calls fails", slog.String("error", err.Error()))
	}
	for _, t := range found {
		q.log(t, "taken over")
		q.put(&entry{Ticket: t})
	}
	if len(found) > 0 {
		q.stir()
	}
}

// dispatch starts what is due, and returns when to look again.
func (q *Queue) dispatch(ctx context.Context, m Maker) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	next := now.Add(lookAgain)
	var due []*entry
	for _, e := range q.entries {
		if e.busy || q.draining {
			continue
		}
		if at := e.dueAt(); at.After(now) {
			next = earlier(next, at)
		} else {
			due = append(due, e)
		}
	}
	slices.SortFunc(due, func(a, b *entry) int {
		return cmp.Or(a.dueAt().Compare(b.dueAt()), a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	for _, e := range due {
		if at := q.beginLocked(ctx, m, e, now); at.After(now) {
			next = earlier(next, at)
		}
	}
	return max(next.Sub(now), time.Millisecond)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// dueAt is when something is to be done about a ticket.
func (e *entry) dueAt() time.Time {
	switch {
	case e.State == ticket.Waiting:
		return earlier(e.NotBefore, e.Expires)
	case e.Delivery == ticket.Due:
		return earlier(e.DeliverAt, e.Expires)
	}
	return e.Expires
}

// beginLocked begins what is due about a ticket; mu is held. Where it must wait for others, it returns until when, at
// the latest; who ends wakes the dispatcher.
func (q *Queue) beginLocked(ctx context.Context, m Maker, e *entry, now time.Time) time.Time {
	switch {
	case !e.Expires.After(now):
		q.startLocked(e, func() { q.expire(ctx, e) })
	case e.State == ticket.Waiting:
		return q.beginMakingLocked(ctx, m, e, now)
	case q.delivering < maxDelivering:
		q.delivering++
		q.startLocked(e, func() {
			q.deliver(ctx, m, e)
			q.mu.Lock()
			q.delivering--
			q.mu.Unlock()
		})
	}
	return time.Time{}
}

// startLocked has an entry worked on by a goroutine of its own, and gives it back after that; mu is held.
func (q *Queue) startLocked(e *entry, do func()) {
	e.busy = true
	q.work.Go(func() {
		defer q.free(e)
		do()
	})
}

func (q *Queue) beginMakingLocked(ctx context.Context, m Maker, e *entry, now time.Time) time.Time {
	r := q.routeLocked(routeKey{e.Policy, e.Route})
	if r.paced.After(now) {
		return r.paced
	}
	bounds := m.Deferred(e.Route)
	// An answer is stored whatever room there is: it was paid for. So none is asked for where there is none.
	if bounds != nil && r.answers >= bounds.MaxBytes {
		return now.Add(lookAgain)
	}
	size := e.Request.Bytes
	if q.making >= maxMaking || r.making >= maxMakingRoute || q.making > 0 && q.inHand+size > maxInHand {
		return time.Time{}
	}
	q.making++
	q.inHand += size
	r.making++
	making, cancel := context.WithCancel(ctx)
	e.cancel, e.sent = cancel, false
	q.startLocked(e, func() {
		defer cancel()
		q.make(making, m, e)
		q.mu.Lock()
		defer q.mu.Unlock()
		q.making--
		q.inHand -= size
		r.making--
		e.cancel = nil
	})
	return time.Time{}
}
