// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/internal/budget"
)

// number draws what a counter should never be.
func number(t *rapid.T, what string) float64 {
	return rapid.OneOf(
		rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 1e300, -1e300, math.MaxFloat64}),
		rapid.Float64Range(-1e6, 1e6),
	).Draw(t, what)
}

func hostileReport(t *rapid.T, names []string) Report {
	r := Report{
		Holder: rapid.SampledFrom([]string{"evil", "evil2", ""}).Draw(t, "name"), Incarnation: rapid.Uint64Range(0, 9).Draw(t, "incarnation"),
		Sequence: rapid.Uint64().Draw(t, "sequence"),
		Term:     Term{rapid.Uint64Range(0, 3).Draw(t, "epoch"), rapid.Uint64Range(0, 9).Draw(t, "opening")},
		Stamp:    rapid.Int64().Draw(t, "stamp"), Lease: time.Duration(rapid.Int64().Draw(t, "lease")),
		Draining: rapid.IntRange(0, 9).Draw(t, "draining") == 0,
	}
	for range rapid.IntRange(0, 4).Draw(t, "counts") {
		r.Counts = append(r.Counts, Count{
			rapid.SampledFrom(names).Draw(t, "budget"), number(t, "spent"), number(t, "returned"), number(t, "refunded"), number(t, "held"),
		})
	}
	for range rapid.IntRange(0, 4).Draw(t, "wants") {
		w := Want{Lane: rapid.SampledFrom([]string{"a", "b", "?"}).Draw(t, "lane"), Bulk: rapid.Uint64Range(0, 5).Draw(t, "bulk")}
		for range rapid.IntRange(0, 3).Draw(t, "units") {
			w.Units = append(w.Units, Amount{rapid.SampledFrom(names).Draw(t, "of"), number(t, "wanted")})
		}
		r.Wants = append(r.Wants, w)
	}
	return r
}

// Whatever is reported, the pool's books hold, and nobody else's balance rises.
func TestHostileReportsBreakNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.Bool().Draw(t, "first")
		cfg := canonical(3, budget.Lane{Name: "a", Share: 0.5}, budget.Lane{Name: "b", Share: 0.5})
		cfg.Budgets = append(cfg.Budgets, Budget{Name: "slots", Kind: budget.Slots, Capacity: 10})
		names := []string{"tokens", "requests", "slots", "nothing"}
		now := origin
		p := New(cfg, Leader{Epoch: 1, First: first, Holders: []string{"good"}}, now)
		good := Report{Holder: "good", Incarnation: 1, Sequence: 1}
		if err := p.Report(&good, now); err != nil {
			t.Fatal(err)
		}
		before := p.Held(Key{"good", 1}, "tokens", now)
		for range rapid.IntRange(1, 30).Draw(t, "reports") {
			now = now.Add(time.Duration(rapid.Int64Range(-1e9, 3e9).Draw(t, "pause")))
			r := hostileReport(t, names)
			_ = p.Report(&r, now)
			p.Advance(now)
			for _, key := range p.Changed(nil) {
				g, _ := p.Grant(key, now)
				if key.Holder == "good" && len(g.Lanes) > 0 {
					t.Fatalf("who wanted nothing was granted %+v", g.Lanes)
				}
			}
			for i, b := range p.Figures(now).Budgets {
				sum := b.Held + b.Unknown
				if cfg.Budgets[i].Kind == budget.Continuous {
					sum += b.Level
				}
				if !(sum <= cfg.Budgets[i].Capacity*(1+1e-9)) || b.Held < -1e-6 || b.Level > cfg.Budgets[i].Capacity {
					t.Fatalf("%s: %+v", b.Name, b)
				}
			}
			if held := p.Held(Key{"good", 1}, "tokens", now); held > before {
				t.Fatalf("another's balance rose from %v to %v", before, held)
			}
			if _, ok := p.Next(now); !ok && len(p.accounts) > 0 {
				t.Fatal("nothing is due, although accounts expire")
			}
		}
	})
}

// A hostile gateway wants everything all the time, and reports no spending: another has its half all the same.
func TestAbsurdWantsStarveNobody(t *testing.T) {
	l := newLoaded(t, canonical(4, budget.Lane{Name: "a", Share: 0.5}, budget.Lane{Name: "b", Share: 0.5}), lan, 1)
	o := l.offer(0, &load{lane: "a", perSecond: 5, tokens: 1000})
	seq, next := uint64(0), time.Duration(0)
	attack := func() {
		l.step()
		if l.now < next {
			return
		}
		next = l.now + 50*time.Millisecond
		at := l.leader().at(l.now)
		for range 5 {
			seq++
			_ = l.leader().Report(&Report{
				Holder: "evil", Incarnation: seq % 3, Sequence: seq, Term: Term{1, seq % 7},
				Counts: []Count{{Budget: "tokens", Spent: math.MaxFloat64, Refunded: math.Inf(1)}},
				Wants:  []Want{{Lane: "b", Units: []Amount{{"tokens", 1e300}}}, {Lane: "b", Bulk: seq, Units: []Amount{{"tokens", 1e300}}}},
			}, at)
		}
	}
	l.run(2*time.Minute, attack)
	o.served = 0
	l.run(4*time.Minute, attack)
	l.check()
	// Who never shows a lease may be taking a safe share, of which there are four: that much is left to it.
	rate := l.cfg.Budgets[0].Rate * (1 - 1.0/8)
	if part := o.served / (rate * 120); part < 0.49 {
		t.Errorf("the other had %.3f of the rate, its share is a half", part)
	}
}

func TestReportsAndHoldersAreBounded(t *testing.T) {
	p := New(canonical(2), Leader{Epoch: 2, First: true}, origin)
	for name, tc := range map[string]struct {
		report Report
		want   error
	}{
		"nobody":          {Report{}, ErrBounds},
		"a long name":     {Report{Holder: strings.Repeat("x", maxName+1)}, ErrBounds},
		"too many counts": {Report{Holder: "a", Counts: make([]Count, maxBudgets+1)}, ErrBounds},
		"too many wants":  {Report{Holder: "a", Wants: make([]Want, maxWants+1)}, ErrBounds},
		"a long want":     {Report{Holder: "a", Wants: []Want{{Units: make([]Amount, maxBudgets+1)}}}, ErrBounds},
		"a later leader":  {Report{Holder: "a", Term: Term{3, 1}}, ErrFenced},
	} {
		if err := p.Report(&tc.report, origin); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
	for i := range uint64(maxIncarnations + 1) {
		err := p.Report(&Report{Holder: "restarts", Incarnation: i, Sequence: 1}, origin)
		if want := i < maxIncarnations; (err == nil) != want {
			t.Errorf("incarnation %d: %v", i, err)
		}
	}
	for i := range 100 {
		w := Want{Lane: fmt.Sprint(i), Units: []Amount{{"tokens", 1}}}
		if err := p.Report(&Report{Holder: "lanes", Sequence: uint64(i + 1), Wants: []Want{w}, Term: Term{2, maxIncarnations + 1}}, origin); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(p.accounts[Key{"lanes", 0}].lanes); n > maxLanes {
		t.Errorf("%d lanes are kept", n)
	}
	for i := range 2 * maxTombs {
		p.ended.add(Key{fmt.Sprint(i), 0}, 1)
	}
	if len(p.ended.at) > maxTombs || len(p.ended.order) > maxTombs {
		t.Errorf("%d ended ones are remembered", len(p.ended.at))
	}
}

// A late or doubled report of an incarnation that ended opens no account for it.
func TestLateReportsOfTheDeadOpenNothing(t *testing.T) {
	p := New(canonical(2), Leader{Epoch: 1, First: true}, origin)
	r := Report{Holder: "a", Incarnation: 1, Sequence: 5, Wants: []Want{{Lane: "default", Units: []Amount{{"tokens", 1000}}}}}
	if err := p.Report(&r, origin); err != nil {
		t.Fatal(err)
	}
	later := origin.Add(time.Minute)
	if err := p.Report(&r, later); !errors.Is(err, ErrOld) || len(p.accounts) != 0 {
		t.Errorf("%v, %d accounts", err, len(p.accounts))
	}
}
