// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
)

// Where there is not room for what is exact of all pools, those that are left out are as after a leader that died: half of them may
// be out, and not all, unless another leader came between.
func TestAHandoverOfManyPoolsIsNoWorseThanADeath(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	l := manyPools(now)
	l.Lead(Leadership{Epoch: 1000, First: true}, now)
	now = now.Add(time.Minute)
	l.Advance(now)
	l.Published(l.State(now))
	last := l.Hand(now)
	if len(last.Pools) == 0 || len(last.Pools) >= 3000 || len(last.Pools)+len(last.Usual)/digestBytes != 3000 {
		t.Fatalf("%d pools are exact and %d usual", len(last.Pools), len(last.Usual)/digestBytes)
	}
	if _, err := last.Encode(); err != nil {
		t.Fatal(err)
	}
	for before, most := range map[uint64]float64{1000: 0.5, 1500: 1} {
		next := manyPools(now)
		next.Lead(Leadership{Epoch: 2000, Before: before, Last: last}, now)
		out := 0.0
		for _, s := range next.pools {
			for _, k := range s.pool.Known(now) {
				out = max(out, k.Outstanding/k.Capacity)
			}
		}
		if out < most-0.01 || out > most+0.01 {
			t.Errorf("before %d: up to %.2f of a pool may be out, want %.2f", before, out, most)
		}
	}
}

// manyPools have three limits each.
func manyPools(now time.Time) *Ledger {
	l := New(Options{})
	for n := range 3000 {
		r := plan.Route{Name: "openai"}
		for _, b := range []string{plan.Requests, plan.InputTokens, plan.OutputTokens} {
			r.Limits = append(r.Limits, plan.Limit{Name: b, Budget: b, Amount: 60_000, WindowSeconds: 60, Burst: 1000})
		}
		l.SetPlan(fmt.Sprintf("team-%04d", n), &plan.Plan{Policies: []plan.Policy{{Name: "assistants", MaxGateways: 8, Routes: []plan.Route{r}}}}, now)
	}
	return l
}
