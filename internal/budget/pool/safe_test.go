// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"fmt"
	"testing"
	"time"
)

// However large a small call is beside the capacity: what silent holders have saved and what the pool has for the one that it hears
// are together no more than B'. All that the silent save is half of it.
func TestSilentHoldersSaveNoMoreThanTheirHalf(t *testing.T) {
	const capacity = 120.0
	for _, tc := range []struct {
		holders int
		call    float64
		burst   float64
	}{
		{1, 500, 60}, {2, 500, 30}, {3, 60, 20}, {12, 120, 5}, {12, 6, 5}, {12, 4, 4},
	} {
		t.Run(fmt.Sprint(tc.holders, " holders, calls of ", tc.call), func(t *testing.T) {
			cfg := Config{MaxHolders: tc.holders, Budgets: []Budget{{Name: "b", Rate: 10, Capacity: capacity, SmallCall: tc.call, Outstanding: capacity}}}
			x := newPair(t, cfg, Leader{Epoch: 1, First: true})
			x.p.Expect("h", x.now)
			rate, burst := Safe(cfg.Budgets[0], tc.holders)
			var silent []*Holder
			for i := range tc.holders - 1 {
				x.p.Expect(fmt.Sprint("silent", i), x.now)
				silent = append(silent, NewHolder(HolderConfig{Fresh: true, Budgets: []HolderBudget{{Name: "b", SafeRate: rate, SafeBurst: burst}}}, x.now))
			}
			for range 120 {
				x.tell(Demand{Lane: "default", Small: []Amount{{"b", 100}}})
				x.wait(time.Second)
			}
			saved := 0.0
			for _, h := range silent {
				saved += h.Balance("b", x.now)
			}
			f := x.p.Figures(x.now).Budgets[0]
			if want := tc.burst * float64(tc.holders-1); saved != want {
				t.Errorf("the silent have saved %v, want %v", saved, want)
			}
			if sum := saved + f.Level + f.Held; sum > capacity+1e-6 || sum < 0.9*capacity {
				t.Errorf("the silent have %v, the pool %v, and the other %v: that is to be nearly all of %v, and no more", saved, f.Level, f.Held, capacity)
			}
		})
	}
}
