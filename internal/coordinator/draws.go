// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"context"
	"errors"
	"time"

	"connectrpc.com/connect"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/coordinator/drawing"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/wire"
)

const (
	// drawsPerSecond and drawBurst: a gateway draws once a second, and up to ten times while something waits.
	drawsPerSecond = 15
	drawBurst      = 60
	// drawPatience is how many draws may come too fast, with no pause in between, before the stream ends: 20 seconds of them.
	drawPatience = 300
)

var errBadDraws = errors.New("the draws exceed their bounds")

// drawCounts are what became of draws.
type drawCounts struct {
	taken uint64
	// ignored is by why.
	ignored map[string]uint64
	batches uint64
	busy    time.Duration
	writes  map[string]uint64
}

// Why draws are ignored, and what becomes of writes of the state.
const (
	ignoredForeign = "foreign"
	ignoredOld     = "old"
	ignoredFenced  = "fenced"
	ignoredFull    = "full"
	ignoredOther   = "other"

	writeDone   = "done"
	writeFailed = "failed"
)

func newDrawCounts() drawCounts {
	return drawCounts{
		ignored: map[string]uint64{ignoredForeign: 0, ignoredOld: 0, ignoredFenced: 0, ignoredFull: 0, ignoredOther: 0},
		writes:  map[string]uint64{writeDone: 0, writeFailed: 0},
	}
}

// draw takes in what a gateway draws. One that draws too fast is read from more slowly, and cut off if it goes on.
func (s *Server) draw(st *stream, draws *wire.Draws, now time.Time) error {
	if !drawing.WithinBounds(draws) {
		return connect.NewError(connect.CodeInvalidArgument, errBadDraws)
	}
	if err := st.slow(now); err != nil {
		return err
	}
	routes, err := s.drawn(st, draws)
	if err != nil {
		return err
	}
	first := false
	for i, r := range routes {
		if r != nil {
			report := drawing.Report(draws.GetDraws()[i], r.names, addressOf(st.id.Pod).holder, st.incarnation)
			first = st.box.report(r.key, report) || first
		}
	}
	if first {
		s.budgets.do(func(_ context.Context, now time.Time) { s.budgets.report(st, now) })
	}
	return nil
}

// slow waits while a stream's draws exceed their rate.
func (st *stream) slow(now time.Time) error {
	if st.draws.take(now, drawsPerSecond, drawBurst) {
		if st.draws.level > drawBurst/2 {
			st.hasty = 0
		}
		return nil
	}
	if st.hasty++; st.hasty > drawPatience {
		return errFlood
	}
	wait := time.Second/drawsPerSecond + time.Millisecond
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-st.ctx.Done():
		return context.Cause(st.ctx)
	case <-timer.C:
		st.draws.take(now.Add(wait), drawsPerSecond, drawBurst)
		return nil
	}
}

// drawn are the routes that draws are for, nil where none of the pod's governs: its own labels say so.
func (s *Server) drawn(st *stream, draws *wire.Draws) ([]*planRoute, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := st.member
	if st.moved != "" {
		return nil, nil
	}
	if m.stream != st {
		return nil, errReplaced
	}
	routes, foreign := make([]*planRoute, len(draws.GetDraws())), uint64(0)
	for i, d := range draws.GetDraws() {
		if routes[i] = m.governing(routeKey{d.GetPolicy(), d.GetProvider()}); routes[i] == nil {
			foreign++
		}
	}
	s.budgets.ignore(ignoredForeign, foreign)
	return routes, nil
}

// governing is the route of that name if it governs the member.
func (m *member) governing(key routeKey) *planRoute {
	for _, r := range m.governed {
		if r.key == key {
			return r
		}
	}
	return nil
}

func (b *budgets) ignore(why string, n uint64) {
	if n > 0 {
		b.mu.Lock()
		b.counts.ignored[why] += n
		b.mu.Unlock()
	}
}

// report hands the ledger what a stream drew.
func (b *budgets) report(st *stream, now time.Time) {
	reports := st.box.takeReports()
	if !b.leads || b.streams[addressOf(st.id.Pod)] != st {
		b.ignore(ignoredFenced, uint64(len(reports)))
		return
	}
	taken := uint64(0)
	for key, r := range reports {
		route := ledger.Route{Namespace: st.id.Pod.Namespace, Policy: key.policy, Provider: key.provider}
		if err := b.ledger.Report(route, r, now); err != nil {
			b.ignore(reason(err), 1)
			continue
		}
		taken++
	}
	b.mu.Lock()
	b.counts.taken += taken
	b.mu.Unlock()
}

// reason is one of few, whatever the error says.
func reason(err error) string {
	switch {
	case errors.Is(err, pool.ErrOld):
		return ignoredOld
	case errors.Is(err, pool.ErrFenced), errors.Is(err, ledger.ErrNotLeading):
		return ignoredFenced
	case errors.Is(err, pool.ErrTooMany), errors.Is(err, ledger.ErrNoPool):
		return ignoredFull
	case errors.Is(err, ledger.ErrUnknownRoute):
		return ignoredForeign
	}
	return ignoredOther
}
