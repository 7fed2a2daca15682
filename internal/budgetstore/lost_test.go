// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budgetstore

import (
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
)

// However many drawers are without the store for however long, what they have saved is half of the capacity at the most, and no
// more of it than the store counts when one of them is not heard. A limit of nothing saves nothing.
func TestDrawersWithoutTheStoreSaveNoMoreThanHalf(t *testing.T) {
	start := time.Unix(0, 0)
	for _, drawers := range []float64{1, 2, 10, 50} {
		l := &line{Budget: pool.Budget{Rate: 100, Capacity: 1000, SmallCall: 200}, told: true, share: 50 / drawers, safe: start}
		for at := range 600 {
			l.lapse(start, 5, start.Add(time.Duration(at)*time.Second))
		}
		if all := drawers * l.level; all > 500+1e-9 || l.level > l.line(pool.Needs{}, 5).Burst+1e-9 {
			t.Errorf("%v drawers save %v of 1000, each %v of the %v that the store counts", drawers, all, l.level, l.line(pool.Needs{}, 5).Burst)
		}
		if l.level <= 0 {
			t.Errorf("%v drawers: nothing is saved", drawers)
		}
	}
	l := &line{safe: start}
	l.lapse(start, 5, start.Add(time.Minute))
	if l.level != 0 {
		t.Errorf("a limit of nothing saves %v", l.level)
	}
}
