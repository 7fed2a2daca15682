// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budgetstore_test

import (
	"context"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/internal/budgetstore"
	_ "github.com/headgate-dev/headgate/internal/testing/seed"
	"github.com/headgate-dev/headgate/internal/testing/shelves"
)

// model is a store of slots as it is meant, in few lines: leases by its own time, counters that are cumulative, slots of who is
// silent in use until no call can be. It divides nothing: who comes first has what there is.
type model struct {
	now     float64
	version uint64
	records map[string]*record
}

// record is what the model knows of an incarnation.
type record struct {
	name                      string
	sequence, opened          uint64
	granted, raised, returned float64
	// sure is until when it has its lease, over when nothing may begin in its slots any longer, free when no call is left.
	sure, over, free float64
}

func (r *record) held() float64 { return max(0, r.granted+r.raised-r.returned) }

func (m *model) tick(now time.Duration) { m.now = 1000 + now.Seconds() }

func (m *model) Close() error { return nil }

func (m *model) Draw(_ context.Context, requests []*budgetstore.Request) []budgetstore.Result {
	var out []budgetstore.Result
	for _, r := range requests {
		out = append(out, budgetstore.Result{Answer: m.draw(r)})
	}
	return out
}

func (m *model) draw(r *budgetstore.Request) *budgetstore.Answer {
	maps.DeleteFunc(m.records, func(_ string, k *record) bool { return k.free <= m.now })
	m.version++
	l, id := r.Lines[0], r.Drawer+"/"+r.Incarnation
	k := m.records[id]
	if k == nil {
		k = &record{name: r.Drawer, opened: m.version, granted: l.Got, returned: l.Returned}
		m.records[id] = k
	}
	if r.Sequence > k.sequence {
		k.sequence = r.Sequence
		k.granted, k.returned = max(k.granted, l.Got), max(k.returned, l.Returned)
		k.over = m.now + (r.Life+r.Held).Seconds()*1.02
		k.free = k.over + r.Drain.Seconds()
		if r.Lease > 0 {
			k.sure = max(k.sure, min(r.Stamp, m.now)+r.Lease.Seconds()*0.98)
		}
		m.raise(k, l.Raised-k.raised, l.Whole)
		if more := math.Floor(min(l.Want-k.granted, m.left(l.Capacity))); k.sure > m.now && more > 0 {
			k.granted += more
		}
	}
	return &budgetstore.Answer{
		Instance: "model", Version: m.version, Stamp: m.now,
		Lines: []budgetstore.Granted{{Total: k.granted, Keep: -1}},
	}
}

// left are the slots that nobody has.
func (m *model) left(capacity float64) float64 {
	for _, k := range m.records {
		capacity -= k.held()
	}
	return capacity
}

// raise counts slots that an incarnation had before: those of one before it that is silent are the same, and all of them
// when it knows of all. Only who was answered is sure to have come after those.
func (m *model) raise(k *record, more float64, whole bool) {
	k.raised += max(0, more)
	if k.sure <= m.now {
		return
	}
	most := max(0, more)
	if whole {
		most = math.Inf(1)
	}
	for _, id := range slices.Sorted(maps.Keys(m.records)) {
		if o := m.records[id]; o.opened < k.opened && o.name == k.name && o.sure <= m.now {
			some := min(most, o.held())
			o.returned += some
			most -= some
		}
	}
}

// TestNoMoreSlotsAreInUseThanThereAre, whatever becomes of messages and drawers.
func TestNoMoreSlotsAreInUseThanThereAre(t *testing.T) {
	busy := 0
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{records: map[string]*record{}}
		f := shelves.Faults{Crash: rapid.Bool().Draw(rt, "crash"), Cut: rapid.Bool().Draw(rt, "cut")}
		w := shelves.New(t, m, m.tick, rapid.Int64().Draw(rt, "seed"), f)
		for _, name := range []string{"a", "b", "c", "d"}[:rapid.IntRange(1, 4).Draw(rt, "drawers")] {
			w.Join(name, rapid.IntRange(0, w.Slots+2).Draw(rt, name))
		}
		w.Play(90 * time.Second)
		if w.Most == w.Slots {
			busy++
		}
	})
	if busy == 0 {
		t.Error("no history had all slots in use")
	}
	t.Logf("in %d histories all slots were in use", busy)
}
