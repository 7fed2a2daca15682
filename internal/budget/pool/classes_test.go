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

// tenanted is an external pool of two tenants, of which one lends half of its own.
func tenanted() Config {
	cfg := external(
		budget.Lane{Name: "x1", Group: "x", Share: 0.4, Hold: -1}, budget.Lane{Name: "x2", Group: "x", Share: 0.2, Hold: -1},
		budget.Lane{Name: "y", Group: "y", Share: 0.1, Hold: -1}, budget.Lane{Name: "/", Hold: -1},
	)
	cfg.Groups = []budget.Group{{Name: "x", Weight: 2, Unlent: 0.5}, {Name: "y", Weight: 1}}
	cfg.Shadows = []Shadow{{Name: "tokens@y", Of: "tokens", External: true, Lanes: []string{"y"}, Rate: 1000, Capacity: 30_000}}
	return cfg
}

// Claims are by tenant what its lanes wait for together, and their shares; one that lends not all is told of though it is idle.
func TestClaimsAreByTenant(t *testing.T) {
	p := New(tenanted(), Leader{Epoch: 1, First: true}, origin)
	a := &teller{r: Report{Holder: "a"}}
	a.r.Wants = []Want{
		{Lane: "y", Units: []Amount{{"tokens", 3000}}},
		{Lane: "y", Bulk: 1, Units: []Amount{{"tokens", 60_000}}},
	}
	a.tell(t, p, origin)
	got := p.Standing(origin).Budgets[0].Claims
	want := []Claim{{Class: "x", Share: 0.6, Weight: 2, Unlent: 0.5}, {Class: "y", Share: 0.1, Weight: 1, Wanted: 3000}}
	if len(got) != 2 || fmt.Sprintf("%.9v", got) != fmt.Sprintf("%.9v", want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	// A tenant's large call takes of its shadow what fits there.
	n := p.Needs(origin)
	if len(n.Bulk) != 1 || fmt.Sprint(n.Bulk[0]) != fmt.Sprint([]Amount{{"tokens", 60_000}, {"tokens@y", 30_000}}) ||
		n.Of[0].Class != "y" || n.Of[0].Lane != "y" || fmt.Sprint(n.Of[0].Shares) != fmt.Sprint([]float64{0.1, 0}) {
		t.Errorf("%+v", n)
	}
	if units(n.Small, "tokens@y") == 0 {
		t.Errorf("small calls need nothing of the shadow: %+v", n.Small)
	}
}

// What is allotted to a tenant is its own: it is granted that much, and no other one, though there is nothing else.
func TestAllotmentsAreTheirTenants(t *testing.T) {
	cfg := tenanted()
	cfg.Shadows = nil
	p, now := New(cfg, Leader{Epoch: 1, First: true}, origin), origin
	a, b := &teller{r: Report{Holder: "a"}}, &teller{r: Report{Holder: "b"}}
	a.r.Wants = []Want{{Lane: "x2", Units: []Amount{{"tokens", 5000}}}}
	b.r.Wants = []Want{{Lane: "y", Units: []Amount{{"tokens", 5000}}}}
	for range 20 {
		a.tell(t, p, now)
		b.tell(t, p, now)
		if left := p.Allot("tokens", []Allotment{{Class: "x", Units: 50}, {Class: "y", Units: 150}}, now); left != 0 {
			t.Fatalf("%v did not fit", left)
		}
		now = now.Add(50 * time.Millisecond)
		p.Advance(now)
	}
	x, y := p.Held(Key{"a", 1}, "tokens", now), p.Held(Key{"b", 1}, "tokens", now)
	if x+y > 4000 || x > 1000+1e-6 || y > 3000+1e-6 || x < 500 || y < 2000 {
		t.Errorf("x was granted %v of 1000, y %v of 3000", x, y)
	}
	if left := p.Allot("none", []Allotment{{Units: 7}}, now); left != 7 {
		t.Errorf("%v of 7 came back", left)
	}
	if left := p.Allot("tokens", []Allotment{{Units: math.Inf(1)}}, now); left <= 0 {
		t.Error("all there is fitted")
	}
}
