// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"math"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/wire"
)

// FuzzDraws feeds a pool what bytes mean, and draws that are whole but for their numbers, beside an honest gateway:
// nothing breaks, no budget exceeds its bound, and the honest one is answered and never given more than was refilled.
func FuzzDraws(f *testing.F) {
	seed, err := proto.Marshal(&wire.Draws{Draws: []*wire.Draw{fullDraw(), {}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed, 1.0, -4.0, 10.0, uint64(7), uint64(3), uint64(4), int64(5), int64(6e9))
	f.Add(seed, math.Inf(1), math.NaN(), math.MaxFloat64, uint64(1<<64-1), uint64(0), uint64(1<<63), int64(math.MinInt64), int64(-1))
	f.Add([]byte{}, -1e308, 1e308, math.Copysign(0, -1), uint64(0), uint64(1<<64-1), uint64(1), int64(math.MaxInt64), int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, message []byte, spent, held, units float64, sequence, epoch, opening uint64, stamp, lease int64) {
		var draws wire.Draws
		if proto.Unmarshal(message, &draws) != nil || !WithinBounds(&draws) {
			draws.Reset()
		}
		b := newBench()
		for i := range uint64(4) {
			d := fullDraw()
			d.Draining, d.Sequence, d.Stamp, d.LeaseNanos = i == 3, sequence+i, stamp, lease
			d.Term = &wire.Term{Epoch: epoch, Opening: opening}
			d.Counts = append(d.Counts[1:], &wire.Count{Limit: "tokens", Spent: spent * float64(i+1), Returned: held, Refunded: units, Held: held})
			d.Wants[0].Units[0].Units, d.Seen[0].Units = units, spent
			draws.Draws = append(draws.Draws, d)
		}
		for i, d := range draws.GetDraws() {
			b.step(t, d, uint64(i%3))
		}
	})
}

// bench is a pool with an honest gateway, which holds what it is given.
type bench struct {
	pool    *pool.Pool
	now     time.Time
	began   time.Time
	honest  pool.Report
	granted map[string]float64
}

// The pool's budgets: what they hold at most, and what they gain each second.
var (
	benchCapacity = map[string]float64{"tokens": 1000, "acme:tokens": 50}
	benchRate     = map[string]float64{"tokens": 100, "acme:tokens": 10}
)

func newBench() *bench {
	b := &bench{now: time.Unix(1_000_000, 0), granted: map[string]float64{}}
	b.began = b.now
	config := pool.Config{Lanes: []budget.Lane{{Name: "default", Share: 0.5}, {Name: "batch", Share: 0.5}}, MaxHolders: 10}
	for _, name := range []string{"tokens", "acme:tokens"} {
		config.Budgets = append(config.Budgets, pool.Budget{Name: name, Rate: benchRate[name], Capacity: benchCapacity[name]})
	}
	b.pool = pool.New(config, pool.Leader{Epoch: 3, First: true}, b.now)
	b.honest = pool.Report{Holder: "honest", Incarnation: 1, Wants: []pool.Want{
		{Lane: "default", Units: []pool.Amount{{Budget: "tokens", Units: 10}}},
	}}
	return b
}

func (b *bench) step(t *testing.T, hostile *wire.Draw, incarnation uint64) {
	t.Helper()
	b.now = b.now.Add(300 * time.Millisecond)
	_ = b.pool.Report(Report(hostile, drawnNames(), "hostile", incarnation), b.now)
	b.honest.Sequence++
	if err := b.pool.Report(&b.honest, b.now); err != nil {
		t.Fatalf("the honest report was not taken in: %v", err)
	}
	b.pool.Advance(b.now)
	g, ok := b.pool.Grant(pool.Key{Holder: "honest", Incarnation: 1}, b.now)
	if !ok || g.Ack != b.honest.Sequence {
		t.Fatalf("the honest gateway is not answered: %+v", g)
	}
	for _, a := range g.Totals {
		most := benchCapacity[a.Budget] + benchRate[a.Budget]*b.now.Sub(b.began).Seconds()
		if !(a.Units >= b.granted[a.Budget] && a.Units <= most+1e-6) {
			t.Fatalf("%s: granted %v after %v, of at most %v", a.Budget, a.Units, b.granted[a.Budget], most)
		}
		b.granted[a.Budget] = a.Units
	}
	for _, f := range b.pool.Figures(b.now).Budgets {
		if !(f.Level+f.Held <= benchCapacity[f.Name]+1e-6) {
			t.Fatalf("%s: level %v and held %v exceed %v", f.Name, f.Level, f.Held, benchCapacity[f.Name])
		}
	}
	if sent := Grant("support", "anthropic", &g); !proto.Equal(sent, reread(t, sent)) {
		t.Fatalf("the grant %v is read otherwise", sent)
	}
}

func reread(t *testing.T, g *wire.Grant) *wire.Grant {
	t.Helper()
	bytes, err := proto.Marshal(g)
	var out wire.Grant
	if err == nil {
		err = proto.Unmarshal(bytes, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &out
}
