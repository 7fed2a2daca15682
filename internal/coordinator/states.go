// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/internal/ledger"
)

// States keeps what a leader has to say to the next one.
type States interface {
	// Load returns what the last leader stored, and whether there was something. What is there and cannot be read is an
	// error.
	Load(ctx context.Context) (ledger.State, bool, error)
	// Store replaces it, unless a later leader stored something.
	Store(ctx context.Context, state ledger.State) error
}

// Times of the state, each with its reason.
const (
	// loadTimeout is for all attempts to read it: without it a leader begins more carefully, and not at all is worse.
	loadTimeout = 3 * time.Second
	loadAgain   = 500 * time.Millisecond
	// storeGap is between two writes at the least, storeIdle where nothing waits for them: debts that are paid off mean
	// little to the next leader.
	storeGap  = time.Second
	storeIdle = 30 * time.Second
	// storeTimeout is for one.
	storeTimeout = 10 * time.Second
)

// load reads the last leader's state; at once, or within loadTimeout.
func (b *budgets) load(ctx context.Context) (ledger.State, bool, error) {
	if b.opts.States == nil {
		return ledger.State{}, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	for {
		state, found, err := b.opts.States.Load(ctx)
		if err == nil || errors.Is(err, ErrState) {
			return state, found, err
		}
		select {
		case <-ctx.Done():
			return ledger.State{}, false, err
		case <-time.After(loadAgain):
		}
	}
}

// ErrState is a state that is there and cannot be read: asking again does not help.
var ErrState = errors.New("the last leader's state cannot be read")

// publisher stores the state: one write at a time, none when nothing changed.
type publisher struct {
	group   *sync.WaitGroup
	writing bool
	// stored is what is known to be there, at when the last write began or nothing was to be written.
	stored ledger.State
	at     time.Time
	failed bool
}

func (p *publisher) begin() { *p = publisher{group: p.group, writing: p.writing} }

// maybe writes the state if it is due. Grants never wait for the write but where the pool says so.
func (p *publisher) maybe(ctx context.Context, b *budgets, now time.Time) {
	urgent := b.ledger.Stale() || p.failed
	gap := storeIdle
	if urgent {
		gap = storeGap
	}
	if b.opts.States == nil {
		// There is no next leader.
		if b.ledger.Stale() {
			b.ledger.Published(b.ledger.State(now))
		}
		return
	}
	if p.writing || !p.at.IsZero() && now.Sub(p.at) < gap {
		return
	}
	p.at = now // of looking, too
	state := b.ledger.State(now)
	if !urgent && sameState(state, p.stored) {
		return
	}
	p.writing = true
	p.group.Go(func() {
		bounded, cancel := context.WithTimeout(ctx, storeTimeout)
		defer cancel()
		err := b.opts.States.Store(bounded, state)
		b.do(func(context.Context, time.Time) { p.written(b, state, err) })
	})
}

// resignTimeout is for the last write: nobody can lead meanwhile, and what was published before holds as well.
const resignTimeout = 2 * time.Second

// resign ends a leadership in order: nothing is granted any longer, and the next leader is told exactly what is there. No other
// write is under way, and the lease is given back after this.
func (b *budgets) resign(ctx context.Context, now time.Time) {
	if !b.leads || b.opts.States == nil || b.fenced(now) {
		return
	}
	b.leads = false
	state := b.ledger.Hand(now)
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), resignTimeout)
	defer cancel()
	if err := b.opts.States.Store(bounded, state); err != nil {
		b.log.Warn("the next leader is not told exactly what is there: half of it counts as outstanding for a while", "error", err)
	}
}

// written hears what became of a write.
func (p *publisher) written(b *budgets, state ledger.State, err error) {
	p.writing, p.failed = false, err != nil
	outcome := writeDone
	if err != nil {
		outcome = writeFailed
		b.log.Warn("cannot store what the next leader must know, trying again", "error", err)
	}
	b.mu.Lock()
	b.counts.writes[outcome]++
	b.mu.Unlock()
	if err == nil && b.leads && b.epoch == state.Epoch {
		p.stored = state
		b.ledger.Published(state)
	}
}

// sameState says whether two states say the same, whenever they were made.
func sameState(a, b ledger.State) bool {
	a.Sequence, a.Sum = b.Sequence, b.Sum
	return reflect.DeepEqual(a, b)
}
