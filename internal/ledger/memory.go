// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
)

// maxMemos bounds what is remembered; the oldest are forgotten first, and their limits begin with nothing, as if they were
// new.
const maxMemos = 10_000

// memory has the levels of limits that are in no pool.
type memory struct {
	of map[origin]memo
	// order has them by time; those that were replaced since are in it still.
	order []remembered
}

type remembered struct {
	of origin
	at time.Time
}

// memo is what one limit had.
type memo struct {
	known  pool.Known
	kind   budget.Kind
	window time.Duration
	at     time.Time
	// of is the pool that had it, and keeps its books while it lasts.
	of *shared
}

func newMemory() memory { return memory{of: map[origin]memo{}} }

func (m *memory) add(of origin, what memo) {
	m.of[of] = what
	m.order = append(m.order, remembered{of, what.at})
	for len(m.order) > maxMemos {
		if first := m.order[0]; m.of[first.of].at.Equal(first.at) {
			delete(m.of, first.of)
		}
		m.order[0] = remembered{}
		m.order = m.order[1:]
	}
}

// recall is what a limit begins with that was seen within its window: no more than it had then. After a time nothing of it
// is outstanding, and a pool that had it before has it in its books.
func (m *memory) recall(of origin, b *pool.Budget, now time.Time, after time.Duration, into *shared) (pool.Known, bool) {
	what, ok := m.of[of]
	if !ok {
		return pool.Known{}, false
	}
	delete(m.of, of)
	gone := now.Sub(what.at)
	if what.kind != b.Kind || gone > max(what.window, after) {
		return pool.Known{}, false
	}
	k := what.known
	if gone > after || what.of == into && into != nil {
		k.Outstanding, k.Published = 0, b.Capacity
	}
	return k, true
}
