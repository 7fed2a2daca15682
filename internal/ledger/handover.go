// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
)

// A leader that ends in order says exactly what is there, once it grants nothing any longer. So the next one goes on where it was,
// and neither begins with nothing nor takes half of all for outstanding. What was refilled between the two is lost: the clocks of two
// machines do not say how much that is.

// Hand ends the leadership: nothing is granted from now on. The State is to be stored instead of what was published before, and
// before another replica can lead; where it is not, that holds as well.
func (l *Ledger) Hand(now time.Time) State {
	l.settle(now)
	l.Extend(now)
	p := &l.publishing
	p.sequence++
	out := State{Version: StateVersion, Origin: l.opts.Origin, Epoch: l.by.Epoch, Sequence: p.sequence, Final: true}
	room := maxPools
	for _, key := range slices.SortedFunc(maps.Keys(l.pools), Key.compare) {
		s := l.pools[key]
		one := s.exact(now)
		switch n := size(&one); {
		case len(one.Budgets) == 0:
		case n <= room:
			room -= n
			out.Pools = append(out.Pools, one)
		case len(out.Usual) < maxUsual && len(s.standing(now).one.Budgets) == 0:
			// There is not room for all: of the others it is at least known that no more than usual is out.
			out.Usual = append(out.Usual, s.digest[:]...)
		}
	}
	out = out.Sealed()
	l.leading = false
	return out
}

// exact is all that is to be known of a pool that grants nothing any longer.
func (s *shared) exact(now time.Time) PoolState {
	out := PoolState{
		Account: s.key.Account, Namespace: s.key.Route.Namespace, Policy: s.key.Route.Policy, Provider: s.key.Route.Provider,
		Digest: s.digest[:],
	}
	for _, k := range s.pool.Known(now) {
		i, ok := s.places[k.Name]
		if !ok || s.cfg.Budgets[i].Kind == budget.Slots {
			continue
		}
		state := BudgetState{Name: k.Name, Debt: max(0, -k.Level), Outstanding: k.Outstanding}
		if !s.cfg.Budgets[i].External {
			// What a store gave and nobody was granted it takes for spent.
			state.Level = max(0, k.Level)
		}
		out.Budgets = append(out.Budgets, state)
	}
	heirs, all := s.pool.Heirs(now)
	for _, h := range heirs {
		out.Heirs = binary.BigEndian.AppendUint64(out.Heirs, uint64(h))
	}
	out.Named = all
	return out
}

// heirs are those that a leader before named, if they are all that may have something of a pool.
func (s *lastState) heirs(key Key, d digest) (out []pool.Heir, named bool) {
	one := s.exact[key]
	if !one.Named || !slices.Equal(one.Digest, d[:]) {
		return nil, false
	}
	for chunk := range slices.Chunk(one.Heirs, heirBytes) {
		if len(chunk) != heirBytes {
			return nil, false
		}
		out = append(out, pool.Heir(binary.BigEndian.Uint64(chunk)))
	}
	return out, true
}

// heirBytes are those of one in a document.
const heirBytes = 8

// take is what a leader before handed over of a pool's budget, once: it is there but for what this one grants of it. Of a pool with
// other numbers nothing is known.
func (s *lastState) take(key Key, d digest, b *pool.Budget) (pool.Known, bool) {
	one, ok := s.exact[key]
	if !ok || !slices.Equal(one.Digest, d[:]) {
		return pool.Known{}, false
	}
	i := slices.IndexFunc(one.Budgets, func(state BudgetState) bool { return state.Name == b.Name })
	if i < 0 {
		return pool.Known{}, false
	}
	state := one.Budgets[i]
	one.Budgets = slices.Delete(slices.Clone(one.Budgets), i, i+1)
	s.exact[key] = one
	// Nobody believes this document beyond this leader, so what is out is unknown to the next one until something is published.
	return pool.Known{
		Name: b.Name, Level: max(state.Level-state.Debt, -b.Capacity), Outstanding: state.Outstanding, Published: b.Capacity, Capacity: b.Capacity,
	}, true
}
