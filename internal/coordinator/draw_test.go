// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/wire"
)

func drawnRoute() *planRoute {
	return &planRoute{
		key: routeKey{"support", "anthropic"}, limits: map[string]bool{"tokens": true, "acme:tokens": true},
		lanes: map[string]bool{"default": true, "batch": true},
	}
}

func fullDraw() *wire.Draw {
	return &wire.Draw{
		Policy: "support", Provider: "anthropic", Sequence: 7, Term: &wire.Term{Epoch: 3, Opening: 4}, Stamp: 5, LeaseNanos: 6e9,
		Counts: []*wire.Count{
			{Limit: "tokens", Spent: 1, Returned: 2, Refunded: 3, Held: -4},
			{Limit: "invented", Spent: 9},
			{Limit: "acme:tokens", Spent: 5},
		},
		Wants: []*wire.Want{
			{Lane: "batch", Bulk: 8, Units: []*wire.Amount{{Limit: "tokens", Units: 10}, {Limit: "invented", Units: 11}}},
			{Lane: "invented", Bulk: 9},
		},
		Seen:     []*wire.Amount{{Limit: "acme:tokens", Units: 12}, {Limit: "other:tokens", Units: 13}},
		Draining: true,
	}
}

// A draw is the pool's report, of the holder that the stream's token names; names that are not the route's are left out.
func TestDrawsBecomeThePoolsReports(t *testing.T) {
	want := &pool.Report{
		Holder: "pod/uid", Incarnation: 99, Sequence: 7, Term: pool.Term{Epoch: 3, Opening: 4}, Stamp: 5, Lease: 6 * time.Second,
		Counts: []pool.Count{
			{Budget: "tokens", Spent: 1, Returned: 2, Refunded: 3, Held: -4}, {Budget: "acme:tokens", Spent: 5},
		},
		Wants:    []pool.Want{{Lane: "batch", Bulk: 8, Units: []pool.Amount{{Budget: "tokens", Units: 10}}}},
		Seen:     []pool.Amount{{Budget: "acme:tokens", Units: 12}},
		Draining: true,
	}
	if diff := cmp.Diff(want, poolReport(fullDraw(), drawnRoute(), "pod/uid", 99)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestGrantsAreSentWhole(t *testing.T) {
	got := wireGrant(routeKey{"support", "anthropic"}, &pool.Grant{
		Holder: "pod/uid", Incarnation: 99, Term: pool.Term{Epoch: 3, Opening: 4}, Ack: 7, Stamp: 8,
		Totals: []pool.Amount{{Budget: "tokens", Units: 1}}, Expected: []pool.Amount{{Budget: "tokens", Units: 2}}, Recall: true,
		Lanes: []pool.LaneTotal{{Lane: "batch", Units: []pool.Amount{{Budget: "tokens", Units: 3}}, Bulk: 8}},
	})
	want := &wire.Grant{
		Policy: "support", Provider: "anthropic", Incarnation: 99, Term: &wire.Term{Epoch: 3, Opening: 4}, Ack: 7, Stamp: 8,
		Totals: []*wire.Amount{{Limit: "tokens", Units: 1}}, Expected: []*wire.Amount{{Limit: "tokens", Units: 2}}, Recall: true,
		Lanes: []*wire.LaneTotal{{Lane: "batch", Units: []*wire.Amount{{Limit: "tokens", Units: 3}}, Bulk: 8}},
	}
	if !proto.Equal(want, got) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestDrawsHaveBounds(t *testing.T) {
	amounts := make([]*wire.Amount, wire.MaxLimits+1)
	for name, tc := range map[string]struct {
		draws *wire.Draws
		want  bool
	}{
		"nothing":           {&wire.Draws{}, true},
		"nothing in it":     {&wire.Draws{Draws: []*wire.Draw{{}, nil}}, true},
		"usual":             {&wire.Draws{Draws: []*wire.Draw{fullDraw()}}, true},
		"as many as may be": {&wire.Draws{Draws: make([]*wire.Draw, wire.MaxRoutes)}, true},
		"too many":          {&wire.Draws{Draws: make([]*wire.Draw, wire.MaxRoutes+1)}, false},
		"too many counts":   {&wire.Draws{Draws: []*wire.Draw{{Counts: make([]*wire.Count, wire.MaxLimits+1)}}}, false},
		"too many wants":    {&wire.Draws{Draws: []*wire.Draw{{Wants: make([]*wire.Want, wire.MaxWants+1)}}}, false},
		"too much wanted":   {&wire.Draws{Draws: []*wire.Draw{{Wants: []*wire.Want{{Units: amounts}}}}}, false},
		"too much seen":     {&wire.Draws{Draws: []*wire.Draw{{Seen: amounts}}}, false},
	} {
		if got := drawsWithinBounds(tc.draws); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// FuzzDraws feeds whatever bytes mean to a pool beside an honest gateway: nothing breaks, no budget exceeds its bound, and
// the honest one is still answered.
func FuzzDraws(f *testing.F) {
	absurd := fullDraw()
	absurd.Draining = false
	absurd.Counts[0].Held, absurd.Counts[2].Spent, absurd.Wants[0].Units[0].Units = math.NaN(), math.Inf(1), math.MaxFloat64
	for _, d := range []*wire.Draw{fullDraw(), absurd, {}} {
		seed, err := proto.Marshal(&wire.Draws{Draws: []*wire.Draw{d, absurd}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		var draws wire.Draws
		if proto.Unmarshal(message, &draws) != nil || !drawsWithinBounds(&draws) {
			return
		}
		now := time.Unix(1_000_000, 0)
		p := pool.New(pool.Config{
			Budgets: []pool.Budget{{Name: "tokens", Rate: 100, Capacity: 1000}, {Name: "acme:tokens", Rate: 10, Capacity: 50}},
			Lanes:   []budget.Lane{{Name: "default", Share: 0.5}, {Name: "batch", Share: 0.5}}, MaxHolders: 10,
		}, pool.Leader{Epoch: 3, First: true}, now)
		honest := &pool.Report{Holder: "honest", Incarnation: 1, Wants: []pool.Want{
			{Lane: "default", Units: []pool.Amount{{Budget: "tokens", Units: 10}}},
		}}
		for i, d := range draws.GetDraws() {
			now = now.Add(300 * time.Millisecond)
			_ = p.Report(poolReport(d, drawnRoute(), "hostile", uint64(i%3)), now)
			honest.Sequence++
			if err := p.Report(honest, now); err != nil {
				t.Fatalf("the honest report was not taken in: %v", err)
			}
			p.Advance(now)
			if g, ok := p.Grant(pool.Key{Holder: "honest", Incarnation: 1}, now); !ok || g.Ack != honest.Sequence {
				t.Fatalf("the honest gateway is not answered: %+v", g)
			}
			for _, b := range p.Figures(now).Budgets {
				if most := map[string]float64{"tokens": 1000, "acme:tokens": 50}[b.Name]; !(b.Level+b.Held <= most+1e-6) {
					t.Fatalf("%s: level %v and held %v exceed %v", b.Name, b.Level, b.Held, most)
				}
			}
		}
	})
}
