// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package share

import (
	"math"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/wire"
)

// FuzzGrant: whatever comes as a grant is refused, or has only numbers and sizes that a holder may take in.
func FuzzGrant(f *testing.F) {
	for _, g := range []*wire.Grant{
		{},
		{Totals: []*wire.Amount{{Limit: "a", Units: math.NaN()}, {Limit: "b", Units: math.Inf(-1)}, nil}},
		{Lanes: []*wire.LaneTotal{{Lane: "l", Bulk: math.MaxUint64, Units: []*wire.Amount{{Limit: "a", Units: 1e308}}}}, Stamp: math.MinInt64},
		{Lanes: []*wire.LaneTotal{{Lane: "l", Outlook: []*wire.Outlook{{Limit: "a", Spare: math.Inf(-1), PerSecond: math.NaN()}, nil}}}, Stamp: 1},
		{Totals: make([]*wire.Amount, 33), Term: &wire.Term{Epoch: math.MaxUint64}},
	} {
		data, err := proto.Marshal(&wire.Grants{Grants: []*wire.Grant{g}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var grants wire.Grants
		if proto.Unmarshal(data, &grants) != nil {
			return
		}
		for _, in := range grants.GetGrants() {
			g, ok := poolGrant(in)
			if !ok {
				continue
			}
			if len(g.Totals) > wire.MaxLimits || len(g.Expected) > wire.MaxLimits || len(g.Lanes) > wire.MaxLanes || g.Stamp < 0 {
				t.Fatalf("%+v", g)
			}
			check := func(amounts []pool.Amount) {
				for _, a := range amounts {
					if !(a.Units >= 0 && a.Units <= mostUnits) || len(a.Budget) > maxName {
						t.Fatalf("%+v", a)
					}
				}
			}
			check(g.Totals)
			check(g.Expected)
			for _, l := range g.Lanes {
				check(l.Units)
				for _, o := range l.Outlook {
					if !(math.Abs(o.Spare) <= mostUnits && o.PerSecond >= 0 && o.PerSecond <= mostUnits) || len(o.Budget) > maxName {
						t.Fatalf("%+v", o)
					}
				}
			}
			h := pool.NewHolder(pool.HolderConfig{Budgets: []pool.HolderBudget{{Name: "a", SafeRate: 1, SafeBurst: 1}}}, time.Unix(0, 0))
			h.Report(nil, time.Unix(1, 0))
			h.Receive(&g, time.Unix(1, 0))
			if balance := h.Balance("a", time.Unix(2, 0)); math.IsNaN(balance) || math.IsInf(balance, 0) {
				t.Fatalf("the balance is %v", balance)
			}
		}
	})
}

// What is drawn passes whole, and no message holds more than it may.
func TestDrawsStayWithinTheBounds(t *testing.T) {
	r := pool.Report{Sequence: 9, Stamp: 4, Draining: true, Wants: make([]pool.Want, 100), Counts: make([]pool.Count, 100), Seen: make([]pool.Amount, 100)}
	r.Counts[0] = pool.Count{Budget: "a", Spent: 1, Returned: 2, Refunded: 3, Held: -4}
	r.Wants[0] = pool.Want{Lane: "l", Bulk: 5, Units: make([]pool.Amount, 100)}
	d := wireDraw("p", "openai", &r)
	if len(d.GetCounts()) > wire.MaxLimits || len(d.GetWants()) > wire.MaxWants || len(d.GetSeen()) > wire.MaxLimits || len(d.GetWants()[0].GetUnits()) > wire.MaxLimits {
		t.Errorf("%d counts, %d wants, %d seen", len(d.GetCounts()), len(d.GetWants()), len(d.GetSeen()))
	}
	want := &wire.Count{Limit: "a", Spent: 1, Returned: 2, Refunded: 3, Held: -4}
	if !proto.Equal(d.GetCounts()[0], want) || d.GetWants()[0].GetBulk() != 5 || !d.GetDraining() || d.GetSequence() != 9 || d.GetStamp() != 4 {
		t.Errorf("%v", d)
	}
}
