// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
)

// State is what a leader publishes for the next one. Pools of which nothing unusual is to be known are in Usual alone.
type State struct {
	Version int    `json:"version"`
	Origin  string `json:"origin,omitempty"`
	// Epoch is the leader's, Sequence grows with each State of its.
	Epoch    uint64 `json:"epoch"`
	Sequence uint64 `json:"sequence"`
	// Usual has a digest of each pool that owes nothing and of which half may be outstanding. A pool that is neither here
	// nor in Pools is unknown: all of it may be outstanding.
	Usual []byte `json:"usual,omitempty"`
	// Final says that the leader granted nothing after this: what is said in Pools is exact.
	Final bool        `json:"final,omitempty"`
	Pools []PoolState `json:"pools,omitempty"`
	// Sum is over all the rest.
	Sum string `json:"sum,omitempty"`
}

// PoolState is one pool's.
type PoolState struct {
	Account   string `json:"account,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Policy    string `json:"policy,omitempty"`
	Provider  string `json:"provider,omitempty"`
	// Digest is of the pool as it was: where it is the same, limits that are not listed owe nothing, and half of them may be
	// outstanding.
	Digest  []byte        `json:"digest"`
	Budgets []BudgetState `json:"budgets"`
	// Heirs are, eight bytes each, the gateways that may have something; Named says that these are all. Of a Final state.
	Heirs []byte `json:"heirs,omitempty"`
	Named bool   `json:"named,omitempty"`
}

// BudgetState is one budget's.
type BudgetState struct {
	Name string `json:"name"`
	// Debt is how far its level is below zero, Outstanding more than gateways may ever have.
	Debt        float64 `json:"debt,omitempty"`
	Outstanding float64 `json:"outstanding"`
	// Level is what is there, and Outstanding what gateways have, of a Final state.
	Level float64 `json:"level,omitempty"`
}

// Same says that another State would tell the next leader the same.
func (s *State) Same(other *State) bool {
	return s.Epoch == other.Epoch && slices.Equal(s.Usual, other.Usual) &&
		slices.EqualFunc(s.Pools, other.Pools, func(p, q PoolState) bool {
			return p.key() == q.key() && slices.Equal(p.Digest, q.Digest) && slices.Equal(p.Budgets, q.Budgets)
		})
}

func (p *PoolState) key() Key {
	return Key{Account: p.Account, Route: Route{p.Namespace, p.Policy, p.Provider}}
}

// publishing is what is on its way to the next leader.
type publishing struct {
	// changes counts pools that came, went or changed, told is what of it was published.
	changes, told uint64
	// waiting are pools of which a grant waits for a State.
	waiting  map[*shared]bool
	sequence uint64
	// sent are the newest States.
	sent [2]sent
}

// sent is what a State says of the pools that are in it.
type sent struct {
	sequence, changes uint64
	states            map[*shared]pool.State
}

// mark notes whether a grant of the pool waits for a State.
func (p *publishing) mark(s *shared, waits bool) {
	switch {
	case !waits:
		delete(p.waiting, s)
	case p.waiting == nil:
		p.waiting = map[*shared]bool{s: true}
	default:
		p.waiting[s] = true
	}
}

func (p *publishing) gone(s *shared) {
	delete(p.waiting, s)
	p.changes++
}

// Stale says that a State is to be published: a new leader's first, that of pools that came, went or were edited, or one for
// which a grant waits.
func (l *Ledger) Stale() bool {
	p := &l.publishing
	return l.leading && (p.changes != p.told || len(p.waiting) > 0)
}

// State is what is to be published: whenever Stale says so, and now and then for what is owed, if it is not the Same.
func (l *Ledger) State(now time.Time) State {
	l.settle(now)
	p := &l.publishing
	p.sequence++
	out := State{Version: StateVersion, Origin: l.opts.Origin, Epoch: l.by.Epoch, Sequence: p.sequence}
	states := make(map[*shared]pool.State, len(l.pools))
	var unusual []standing
	for _, key := range slices.SortedFunc(maps.Keys(l.pools), Key.compare) {
		s := l.pools[key]
		at := s.standing(now)
		if len(at.one.Budgets) > 0 {
			unusual = append(unusual, at)
		} else if len(out.Usual) < maxUsual {
			out.Usual = append(out.Usual, s.digest[:]...)
			states[s] = at.state
		}
	}
	// Who owes most is told first, if there is not room for all.
	slices.SortStableFunc(unusual, func(a, b standing) int { return cmp.Compare(b.owes, a.owes) })
	for room := maxPools; len(unusual) > 0; unusual = unusual[1:] {
		if room -= size(&unusual[0].one); room < 0 {
			break
		}
		out.Pools = append(out.Pools, unusual[0].one)
		states[unusual[0].shared] = unusual[0].state
	}
	out = out.Sealed()
	p.sent[p.sequence%2] = sent{p.sequence, p.changes, states}
	return out
}

// standing is what is to be said of a pool.
type standing struct {
	*shared
	state pool.State
	// one has what is unusual, owes is the largest debt as a part of its capacity.
	one  PoolState
	owes float64
}

// trifle is the part of a capacity that is rounding.
const trifle = 1e-9

func (s *shared) standing(now time.Time) standing {
	out := standing{shared: s, state: s.pool.State(now)}
	out.one = PoolState{
		Account: s.key.Account, Namespace: s.key.Route.Namespace, Policy: s.key.Route.Policy, Provider: s.key.Route.Provider,
		Digest: s.digest[:],
	}
	for _, state := range out.state.Budgets {
		i, ok := s.places[state.Name]
		if !ok || s.cfg.Budgets[i].Kind == budget.Slots {
			// A new leader finds out about slots by itself.
			continue
		}
		b := &s.cfg.Budgets[i]
		if state.Debt <= trifle*b.Capacity && state.Outstanding <= b.Outstanding+trifle*b.Capacity {
			continue
		}
		out.one.Budgets = append(out.one.Budgets, BudgetState{Name: state.Name, Debt: state.Debt, Outstanding: state.Outstanding})
		out.owes = max(out.owes, state.Debt/max(b.Capacity, trifle))
	}
	return out
}

// Published says that a State is where the next leader will find it. Advance is due then.
func (l *Ledger) Published(s State) {
	p := &l.publishing
	for i := range p.sent {
		if s.Epoch != l.by.Epoch || s.Sequence == 0 || p.sent[i].sequence != s.Sequence {
			continue
		}
		p.told = max(p.told, p.sent[i].changes)
		for of, state := range p.sent[i].states {
			if l.pools[of.key] == of {
				of.pool.Published(state)
				p.mark(of, of.pool.Stale())
				l.touch(of)
			}
		}
		p.sent[i] = sent{}
	}
}
