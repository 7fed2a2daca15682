// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// Overloaded gateways get even parts, also where one asks for other sizes and other budgets than the next, and each is told
// what it will get.
func TestOverloadedGatewaysGetEvenPartsAndAreToldSo(t *testing.T) {
	for name, tc := range map[string]struct {
		large    bool
		offered  []float64
		expected []float64
	}{
		"all want more": {
			offered: []float64{5, 6, 4, 7}, expected: []float64{1667, 1667, 1667, 1667},
		},
		"some want little": {
			offered: []float64{8, 0.3, 0.3, 8}, expected: []float64{2733, 0, 0, 2733},
		},
		"beside large calls": {
			large: true, offered: []float64{5, 6, 4, 7}, expected: []float64{1000, 1000, 1000, 1000},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLoaded(t, canonical(4, budget.Lane{Name: "bulk", Share: 0.4}, budget.Lane{Name: "chat", Share: 0.6}), lan, 4)
			if tc.large {
				// It comes first, so that small calls leave it what it was granted.
				l.offer(1, &load{lane: "bulk", large: 60_000})
			}
			loads := make([]*load, len(tc.offered))
			for i, perSecond := range tc.offered {
				loads[i] = l.offer(i, &load{lane: "chat", perSecond: perSecond, tokens: 2000 - 300*float64(i%2)})
			}
			l.goOn(2 * time.Minute)
			before := make([]float64, len(loads))
			for i, o := range loads {
				before[i] = o.served
			}
			worst := 0.0
			for range 10 {
				l.goOn(12 * time.Second)
				for i, want := range tc.expected {
					if got, told := l.gateways[i].Expected("tokens"); want > 0 && told {
						worst = max(worst, math.Abs(got-want)/want)
					}
				}
			}
			l.check()
			parts := ""
			for i, want := range tc.expected {
				got := (loads[i].served - before[i]) / 120
				parts += fmt.Sprintf(" %.0f", got)
				if want > 0 && math.Abs(got-want) > 0.1*want {
					t.Errorf("gateway %d had %.0f a second, its part is %.0f", i, got, want)
				}
			}
			t.Logf("had%s; expectations were off by %.0f%%", parts, 100*worst)
			if worst > 0.3 {
				t.Errorf("what a gateway was to expect was off by %.0f%%", 100*worst)
			}
		})
	}
}

func TestFill(t *testing.T) {
	for _, tc := range []struct {
		needs []float64
		left  float64
		level float64
	}{
		{nil, 10, 10},
		{[]float64{4}, 10, 6},
		{[]float64{20}, 10, 10},
		{[]float64{1, 20, 20}, 11, 5},
		{[]float64{20, 2, 1, 20}, 13, 5},
		{[]float64{5, 5}, 10, 5},
	} {
		if got := fill(tc.needs, tc.left); math.Abs(got-tc.level) > 1e-9 {
			t.Errorf("%v of %v: %v, want %v", tc.needs, tc.left, got, tc.level)
		}
	}
}

// A holder that says that it spent nothing gets no more than two intervals' refill for small calls.
func TestNobodyHoardsWhatSmallCallsMayNeed(t *testing.T) {
	x := newPair(t, canonical(1), Leader{Epoch: 1, First: true})
	for range 60 {
		x.tell(Demand{Lane: "default", Small: []Amount{{"tokens", 400_000}}})
		x.wait(time.Second)
	}
	if held := x.p.Held(Key{"h", 1}, "tokens", x.now); held < 13_333 || held > 2*13_334 {
		t.Errorf("it has %.0f", held)
	}
}
