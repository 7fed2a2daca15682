// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"errors"
	"testing"
	"time"
)

// An honest holder gives back a large call's grant that has not gone within a TTL.
func TestALargeGrantThatDoesNotGoComesBack(t *testing.T) {
	x := newPair(t, one, Leader{Epoch: 1, First: true})
	for range 12 {
		x.wait(time.Second)
		x.tell()
	}
	demand := Demand{Lane: "default", Bulk: 1, Cost: []Amount{{"b", 1000}}}
	x.tell(demand)
	x.has("b", 1000)
	for range 9 {
		x.wait(time.Second)
		x.tell(demand)
		x.has("b", 1000)
	}
	for range 3 {
		x.wait(time.Second)
		x.tell(demand)
	}
	x.has("b", 0)
	if f := x.p.Figures(x.now); f.Budgets[0].Returned != 1000 || f.Expelled != 0 {
		t.Errorf("%+v", f)
	}
	demand.Bulk = 2
	x.tell(demand)
	x.has("b", 1000)
}

// A lane has one large call at a time.
func TestALaneHasOneLargeCallAtATime(t *testing.T) {
	x := newPair(t, one, Leader{Epoch: 1, First: true})
	for range 30 {
		x.wait(time.Second)
		x.tell()
	}
	demand := func(n uint64) Demand { return Demand{Lane: "default", Bulk: n, Cost: []Amount{{"b", 500}}} }
	x.tell(demand(1))
	x.has("b", 500)
	for range 5 {
		x.wait(time.Second)
		x.tell(demand(2), Demand{Lane: "default", Small: []Amount{{"b", 500}}})
	}
	x.has("b", 500)
	c, ok := x.h.Take([]Amount{{"b", 500}}, x.now)
	if !ok {
		t.Fatal("it did not go")
	}
	x.h.Settle(&c, nil, x.now)
	x.wait(time.Second)
	x.tell(demand(2))
	x.has("b", 500)
}

// A holder that keeps what it was granted for large calls is expelled: when its lease has ended that counts as spent, and
// others have the level.
func TestWhoHoardsIsExpelled(t *testing.T) {
	cfg := canonical(2)
	p, now := New(cfg, Leader{Epoch: 1, First: true}, origin), origin
	evil := &teller{r: Report{Holder: "evil", Counts: []Count{{Budget: "tokens"}}}}
	held, since, n := 0.0, time.Time{}, uint64(0)
	for i := range 600 {
		now = now.Add(time.Second)
		evil.r.Sequence++
		n++
		evil.r.Incarnation, evil.r.Term, evil.r.Stamp, evil.r.Lease = 1, evil.grant.Term, evil.grant.Stamp, 10*time.Second
		evil.r.Wants = nil
		for _, lane := range []string{"default", "other", "third"} {
			evil.r.Wants = append(evil.r.Wants, Want{Lane: lane, Bulk: n, Units: []Amount{{"tokens", 1e9}}})
		}
		err := p.Report(&evil.r, now)
		if err != nil && !errors.Is(err, ErrExpelled) {
			t.Fatal(err)
		}
		p.Advance(now)
		if p.Stale() {
			p.Published(p.State(now))
		}
		if g, ok := p.Grant(Key{"evil", 1}, now); ok {
			evil.grant = g
		}
		f := p.Figures(now)
		switch has := f.Budgets[0].Held; {
		case has == 0:
			held, since = 0, time.Time{}
		case has > held && held == 0:
			held, since = has, now
		}
		if !since.IsZero() && now.Sub(since) > 32*time.Second+2*time.Second {
			t.Fatalf("after %d s it has held something for %v", i, now.Sub(since))
		}
	}
	if f := p.Figures(now); f.Expelled == 0 {
		t.Errorf("%+v", f)
	}
}

// Others have their share beside one that hoards.
func TestHoardersStarveNobody(t *testing.T) {
	l := newLoaded(t, canonical(4), lan, 2)
	o := l.offer(0, &load{perSecond: 2.5, tokens: 1000})
	big := l.offer(1, &load{large: 100_000})
	l.goOn(time.Minute)
	// From now on it takes no call.
	l.loads[l.gateways[1]] = nil
	n := big.number
	l.goOn(0)
	o.served = 0
	hoard := func() {
		l.step()
		g := l.gateways[1]
		g.lots = map[string]time.Time{}
		n = max(n, g.bulk["default"]+1)
		g.demands = []Demand{{Lane: "default", Bulk: n, Cost: []Amount{{"tokens", 100_000}}}}
	}
	l.run(l.now+5*time.Minute, hoard)
	l.check()
	if part := o.served / (2500 * 300); part < 0.97 {
		t.Errorf("the other had %.3f of what it wanted", part)
	}
}
