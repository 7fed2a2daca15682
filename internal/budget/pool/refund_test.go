// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"math"
	"testing"
	"time"
)

// teller is a holder whose reports the test writes.
type teller struct {
	r     Report
	grant Grant
}

func (x *teller) tell(t *testing.T, p *Pool, now time.Time) {
	t.Helper()
	x.r.Sequence++
	x.r.Incarnation, x.r.Term, x.r.Stamp, x.r.Lease = 1, x.grant.Term, x.grant.Stamp, 10*time.Second
	if err := p.Report(&x.r, now); err != nil {
		t.Fatal(err)
	}
	p.Advance(now)
	g, ok := p.Grant(Key{x.r.Holder, 1}, now)
	if !ok {
		t.Fatal("no answer")
	}
	x.grant = g
}

// Two refunds bring together what P lacked, not each: what the first brought is no lack any longer, though by the second
// something else was spent.
func TestTwoRefundsShareWhatWasLacking(t *testing.T) {
	cfg := Config{MaxHolders: 2, Budgets: []Budget{{Name: "b", Rate: 1, Capacity: 60, Window: time.Minute}}}
	p, now := New(cfg, Leader{Epoch: 1, First: true}, origin), origin
	a, b := &teller{r: Report{Holder: "a"}}, &teller{r: Report{Holder: "b"}}
	both := func(after time.Duration) {
		now = now.Add(after)
		a.tell(t, p, now)
		b.tell(t, p, now)
	}
	for range 70 {
		both(time.Second)
	}
	for _, x := range []*teller{a, b} {
		x.r.Counts = []Count{{Budget: "b"}}
		x.r.Wants = []Want{{Lane: "default", Bulk: 1, Units: []Amount{{"b", 20}}}}
	}
	for range 4 {
		both(time.Second)
	}
	sum := func() float64 { f := p.Figures(now).Budgets[0]; return f.Level + f.Held }
	if got := sum(); got != 60 || p.Figures(now).Budgets[0].Held != 40 {
		t.Fatalf("%+v: it is full, and each has 20", p.Figures(now))
	}
	a.r.Counts[0].Spent = 20
	both(0)
	both(750 * time.Millisecond)
	both(750 * time.Millisecond)
	now = now.Add(750 * time.Millisecond)
	a.r.Counts[0].Refunded = 20
	a.tell(t, p, now)
	if got := sum(); math.Abs(got-60) > 1e-6 {
		t.Fatalf("the first refund brings all that is lacking: %v", got)
	}
	b.r.Counts[0].Spent = 20
	b.tell(t, p, now)
	b.r.Counts[0].Refunded = 20
	now = now.Add(10 * time.Millisecond)
	before := sum()
	b.tell(t, p, now)
	if got := sum(); got > before+0.02 {
		t.Errorf("the second refund brought %v anew, though at the time it would have brought nothing", got-before)
	}
}
