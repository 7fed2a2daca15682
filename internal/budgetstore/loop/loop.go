// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package loop

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"time"

	"github.com/headgate-dev/headgate/internal/budgetstore"
	"github.com/headgate-dev/headgate/internal/ledger"
)

const (
	// tick is how often pools are looked at.
	tick = 50 * time.Millisecond
	// soonest is how long after one look the next one is, however often it is asked for.
	soonest = 10 * time.Millisecond
	// callTimeout bounds a batch: whoever waits longer is better off with its share.
	callTimeout = time.Second
	// batches are under way at once, each of so many draws.
	batches, batchSize = 2, 256
)

// Owner has the ledger.
type Owner interface {
	// With calls do with the ledger, alone, and then grants what that brought. It is false when the ledger does not lead,
	// and do was not called. Term is another one for each leadership.
	With(ctx context.Context, do func(l *ledger.Ledger, term uint64, now time.Time)) bool
}

// Options say what is driven.
type Options struct {
	Store budgetstore.Store
	Owner Owner
	// Name is the drawer's, the same over restarts and for the next leader.
	Name string
	// TTL and Drain are the ledger's.
	TTL, Drain time.Duration
	Log        *slog.Logger
}

// Loop drives a drawer.
type Loop struct {
	opts  Options
	poke  chan struct{}
	ended chan batch
	state *state

	// Of Run alone:
	drawer  *budgetstore.Drawer
	term    uint64
	under   int
	results []batch
	clock   elapsed
	keys    []ledger.Key
}

// batch is draws under way, and then what became of them.
type batch struct {
	drawer  *budgetstore.Drawer
	draws   []budgetstore.Draw
	results []budgetstore.Result
}

// New makes a loop that does not run yet.
func New(o Options) *Loop {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Loop{opts: o, poke: make(chan struct{}, 1), ended: make(chan batch, batches), state: newState()}
}

// Poke has pools looked at soon: something waits.
func (l *Loop) Poke() {
	select {
	case l.poke <- struct{}{}:
	default:
	}
}

// Run draws until ctx ends. The store is the caller's to close.
func (l *Loop) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	// No batch outlives it.
	defer func() {
		for ; l.under > 0; l.under-- {
			<-l.ended
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.poke:
		case b := <-l.ended:
			l.under--
			l.results = append(l.results, b)
		case <-timer.C:
		}
		l.look(ctx)
		timer.Reset(tick)
		if !rest(ctx) {
			return
		}
	}
}

func rest(ctx context.Context) bool {
	timer := time.NewTimer(soonest)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// look brings what came to the ledger and makes the draws that are due.
func (l *Loop) look(ctx context.Context) {
	var next batch
	if !l.opts.Owner.With(ctx, func(led *ledger.Ledger, term uint64, now time.Time) {
		next = l.turn(led, term, l.clock.at(now))
	}) {
		l.drawer, l.results = nil, nil
		l.state.follow()
		return
	}
	if len(next.draws) > 0 {
		l.under++
		go l.draw(ctx, next)
	}
}

// turn is called with the ledger.
func (l *Loop) turn(led *ledger.Ledger, term uint64, now time.Time) batch {
	if l.drawer == nil || l.term != term {
		l.drawer, l.term = budgetstore.New(budgetstore.Config{
			Name: l.opts.Name, Incarnation: incarnation(), TTL: l.opts.TTL, Drain: l.opts.Drain,
		}, now), term
	}
	for _, b := range l.results {
		if b.drawer == l.drawer {
			for i, w := range b.draws {
				b.drawer.Receive(w, b.results[i], now)
			}
		}
	}
	l.results = l.results[:0]
	room := batchSize
	if l.under >= batches {
		room = 0
	}
	draws := l.drawer.Draws(l.accounts(led), room, now)
	l.state.see(l.drawer, now, l.opts.Log)
	return batch{drawer: l.drawer, draws: draws}
}

// draw has the store draw.
func (l *Loop) draw(ctx context.Context, b batch) {
	limited, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	requests := make([]*budgetstore.Request, len(b.draws))
	for i, w := range b.draws {
		requests[i] = w.Request
	}
	began := time.Now()
	b.results = l.opts.Store.Draw(limited, requests)
	l.state.count(b.results, time.Since(began))
	l.ended <- b
}

// Leave gives everything back and says that nothing is spent any longer: for a drawer whose holders have ended too.
func (l *Loop) Leave(ctx context.Context) {
	if l.drawer == nil {
		return
	}
	var next batch
	l.opts.Owner.With(ctx, func(led *ledger.Ledger, term uint64, now time.Time) {
		if term == l.term {
			l.accounts(led)
			next = batch{drawer: l.drawer, draws: l.drawer.Leave(l.clock.at(now))}
		}
	})
	for len(next.draws) > 0 {
		n := min(len(next.draws), batchSize)
		l.draw(ctx, batch{drawer: next.drawer, draws: next.draws[:n]})
		<-l.ended
		next.draws = next.draws[n:]
	}
}

func incarnation() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it does not fail
	return hex.EncodeToString(b[:])
}
