// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// While tenants' large calls wait for what holders have, nothing happens but their reports: the pool is not looked at between these.
func TestWhileHoldersHaveAllNothingIsDue(t *testing.T) {
	cfg := Config{
		MaxHolders: 4,
		Budgets:    []Budget{{Name: "b", Rate: 1000, Capacity: 20_000, SmallCall: 500, Outstanding: 20_000, Window: time.Minute}},
		Lanes: []budget.Lane{
			{Name: "a1", Group: "a", Share: 0.3},
			{Name: "a2", Group: "a", Share: 0.2},
			{Name: "c1", Group: "c", Share: 0.4},
			{Name: "c2", Group: "c", Share: 0.1},
		},
		Groups: []budget.Group{{Name: "a"}, {Name: "c"}},
	}
	p, now := New(cfg, Leader{Epoch: 1, First: true}, origin), origin
	has := &teller{r: Report{Holder: "has", Wants: []Want{{Lane: "a1", Units: []Amount{{"b", 2000}}}}}}
	waits := &teller{r: Report{Holder: "waits"}}
	for _, lane := range []string{"a1", "a2", "c1"} {
		waits.r.Wants = append(waits.r.Wants, Want{Lane: lane, Bulk: 1, Units: []Amount{{"b", 19_000}}})
	}
	wakes, reports := 0, 0
	for second := range 90 {
		has.tell(t, p, now)
		if second > 5 {
			waits.tell(t, p, now)
		}
		p.Advance(now)
		for end := now.Add(time.Second); ; wakes++ {
			at, due := p.Next(now)
			if !due || !at.Before(end) {
				now = end
				break
			}
			now = at
			p.Advance(now)
		}
		if second == 29 {
			wakes = 0
		}
		reports++
	}
	if held := p.Held(Key{"has", 1}, "b", now); held != 2000 {
		t.Fatalf("%v are held", held)
	}
	if wakes > reports {
		t.Errorf("it was due %d times in a minute, beside the reports of each second", wakes)
	}
}
