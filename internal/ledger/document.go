// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
)

// StateVersion is the version of a State. One of another version counts as none. It grows with each change of the members: a
// release that does not know one finds another sum, and would write over what it takes for damaged.
const StateVersion = 1

// Bounds of a document, so that it is never larger than MaxStateBytes: what of it is digests, in bytes before they are
// encoded, and what is about single pools, encoded.
const (
	maxUsual = 30_000 * digestBytes
	maxPools = 256 << 10
	// digestBytes make it unlikely enough that another pool has the same one.
	digestBytes = 6
)

// ErrState is a document that is no State.
var ErrState = errors.New("it is no state of budgets")

// digest is of a pool's name and numbers.
type digest [digestBytes]byte

func digestOf(key Key, cfg *pool.Config) digest {
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%q %q %q %q\n", key.Account, key.Route.Namespace, key.Route.Policy, key.Route.Provider)
	for i := range cfg.Budgets {
		b := &cfg.Budgets[i]
		_, _ = fmt.Fprintf(sum, "%q %d %x %x\n", b.Name, b.Kind, math.Float64bits(b.Capacity), math.Float64bits(b.Outstanding))
	}
	return digest(sum.Sum(nil)[:digestBytes])
}

// size is how much of a document it takes.
func size(p *PoolState) int {
	out, err := json.Marshal(p)
	if err != nil {
		return maxPools
	}
	return len(out) + 1
}

// sum is over all but itself.
func (s State) sum() string {
	s.Sum = ""
	out, err := json.Marshal(s)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(out)
	return hex.EncodeToString(sum[:8])
}

// Sealed is the state with its sum: one without counts as damaged.
func (s State) Sealed() State {
	s.Sum = s.sum()
	return s
}

// Encode is the document: JSON of at most MaxStateBytes.
func (s State) Encode() ([]byte, error) {
	out, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("write the state of budgets: %w", err)
	}
	if len(out) > MaxStateBytes {
		return nil, fmt.Errorf("the state of budgets has %d bytes, which exceed %d", len(out), MaxStateBytes)
	}
	return out, nil
}

// ParseState reads a document. What is damaged or of another version is an error: it says nothing.
func ParseState(data []byte) (State, error) {
	var head struct {
		Version int `json:"version"`
	}
	if len(data) > MaxStateBytes {
		return State{}, fmt.Errorf("%w: it has %d bytes, which exceed %d", ErrState, len(data), MaxStateBytes)
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return State{}, fmt.Errorf("%w: %w", ErrState, err)
	}
	if head.Version != StateVersion {
		return State{}, fmt.Errorf("%w: version %d is not known", ErrState, head.Version)
	}
	var s State
	if err := json.Unmarshal(data, &s); err != nil {
		return State{}, fmt.Errorf("%w: %w", ErrState, err)
	}
	if s.Sum == "" || s.Sum != s.sum() {
		return State{}, fmt.Errorf("%w: it is damaged", ErrState)
	}
	return s, nil
}

// Trust says what a State is worth to a leader.
type Trust string

// What it can be.
const (
	// Trusted is one of the leader before, as far as is known.
	Trusted Trust = "Trusted"
	// Missing is none, or none that could be read.
	Missing Trust = "Missing"
	// Damaged was changed since it was written.
	Damaged Trust = "Damaged"
	// Foreign is of another installation.
	Foreign Trust = "Foreign"
	// Older is of a leader before the last, Newer of one that comes later, so that this one is not the last.
	Older Trust = "Older"
	Newer Trust = "Newer"
)

// Trust says what the last State is worth. One that is not trusted counts as none.
func (by *Leadership) Trust(origin string) Trust {
	s := &by.Last
	switch {
	case s.Version != StateVersion:
		return Missing
	case s.Sum == "" || s.Sum != s.sum():
		return Damaged
	case s.Origin != origin:
		return Foreign
	case s.Epoch >= by.Epoch:
		return Newer
	case s.Epoch < by.Before:
		return Older
	}
	return Trusted
}

// lastState is what is known of pools of the leader before.
type lastState struct {
	usual map[digest]bool
	pools map[Key]PoolState
	// exact are pools that were handed over.
	exact map[Key]PoolState
}

func readLast(by Leadership, origin string) lastState {
	out := lastState{usual: map[digest]bool{}, pools: map[Key]PoolState{}, exact: map[Key]PoolState{}}
	if by.Trust(origin) != Trusted {
		return out
	}
	if by.Last.Final && by.Before != by.Last.Epoch {
		// Another may have led since, of which nothing is known, unless the lease says that none did.
		return out
	}
	for one := range slices.Chunk(by.Last.Usual, digestBytes) {
		if len(one) == digestBytes {
			out.usual[digest(one)] = true
		}
	}
	for _, p := range by.Last.Pools {
		if by.Last.Final {
			out.exact[p.key()] = p
		} else {
			out.pools[p.key()] = p
		}
	}
	return out
}

// of is what is known of a pool: nothing of a budget is that all of it may be outstanding.
func (s *lastState) of(key Key, cfg *pool.Config) pool.State {
	var out pool.State
	d := digestOf(key, cfg)
	one, unusual := s.pools[key]
	same := s.usual[d] || unusual && slices.Equal(one.Digest, d[:])
	for i := range cfg.Budgets {
		b := &cfg.Budgets[i]
		if b.Kind == budget.Slots {
			continue
		}
		k := slices.IndexFunc(one.Budgets, func(state BudgetState) bool { return state.Name == b.Name })
		switch {
		case unusual && k >= 0:
			state := one.Budgets[k]
			out.Budgets = append(out.Budgets, pool.BudgetState{Name: b.Name, Debt: state.Debt, Outstanding: state.Outstanding})
		case same:
			out.Budgets = append(out.Budgets, pool.BudgetState{Name: b.Name, Outstanding: b.Outstanding})
		}
	}
	return out
}
