// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// served is what each lane's calls took of one bucket of 100 a second, where each lane always has as many waiting and the
// scheduler looks when Next is due: if it came later, what a lane cannot keep meanwhile would go to others of its group, and if
// one went alone, others would find it gone.
func served(s *Scheduler, costs []float64, waiting int, start time.Time, d time.Duration) []float64 {
	out := make([]float64, len(costs))
	calls := make([]*Call, waiting*len(costs))
	id, _ := s.Bucket("b")
	for now, due := start, true; due && now.Before(start.Add(d)); now, due = s.Next(now) {
		for again := true; again; {
			again = false
			for k, c := range calls {
				i := k / waiting
				if c != nil && c.Verdict().State == Queued || costs[i] == 0 {
					continue
				}
				calls[k] = &Call{Lane: i, Costs: []Cost{{Bucket: id, Amount: costs[i]}}, Owner: i}
				if s.Submit(calls[k], now).State == Admitted {
					out[i] += costs[i]
					s.Settle(calls[k], nil, now)
					again = true
				}
			}
			for _, c := range s.Advance(now, nil) {
				i, _ := c.Owner.(int)
				out[i] += costs[i]
				s.Settle(c, nil, now)
				again = true
			}
		}
	}
	return out
}

// Groups that always want more have their own shares, and of the rest even parts by weight, whatever their priorities and
// the sizes of their calls; within a group priorities count.
func TestGroupsBorrowEvenPartsByWeight(t *testing.T) {
	check(t, 100, func(r *rapid.T) {
		cfg := Config{Buckets: []Bucket{{Name: "b", Rate: 100, Capacity: 2000, Window: time.Minute, StartEmpty: true}}, Patient: rapid.Bool().Draw(r, "patient")}
		n := rapid.IntRange(2, 4).Draw(r, "groups")
		var costs []float64
		weights, left := 0.0, 1.0
		for g := range n {
			name := fmt.Sprint("g", g)
			w := float64(rapid.IntRange(1, 3).Draw(r, "weight"))
			share := rapid.Float64Range(0, 0.2).Draw(r, "share")
			cfg.Groups = append(cfg.Groups, Group{Name: name, Weight: w})
			cfg.Lanes = append(cfg.Lanes,
				Lane{Name: name + "low", Group: name, Hold: -1},
				Lane{Name: name + "high", Group: name, Hold: -1, Share: share, Priority: rapid.Int32Range(1, 3).Draw(r, "priority")})
			cost := rapid.Float64Range(1, 60).Draw(r, "cost")
			costs = append(costs, cost, cost)
			weights, left = weights+w, left-share
		}
		const d = 10 * time.Minute
		got := served(New(cfg, time.Unix(0, 0)), costs, 2, time.Unix(0, 0), d)
		for g := range n {
			want := (cfg.Lanes[2*g+1].Share + left*cfg.Groups[g].Weight/weights) * 100 * d.Seconds()
			if have := got[2*g] + got[2*g+1]; math.Abs(have-want) > 0.04*want+300 {
				r.Errorf("group %d of %+v had %.0f, want %.0f; all %.0f, costs %.0f", g, cfg.Lanes[2*g+1], have, want, got, costs)
			}
			if got[2*g] > 0 {
				r.Errorf("group %d: the low lane had %.0f, the high one %.0f", g, got[2*g], got[2*g+1])
			}
		}
	})
}

// What a group does not lend is lost to the others while it is idle, and no more than that.
func TestWhatAGroupDoesNotLendIsLost(t *testing.T) {
	check(t, 100, func(r *rapid.T) {
		share, unlent := rapid.Float64Range(0.1, 0.6).Draw(r, "share"), rapid.Float64Range(0, 1).Draw(r, "unlent")
		cfg := Config{
			Buckets: []Bucket{{Name: "b", Rate: 100, Capacity: 2000, Window: time.Minute, StartEmpty: true}},
			Lanes:   []Lane{{Name: "idle", Group: "a", Share: share}, {Name: "other", Group: "b", Share: 1 - share}},
			Groups:  []Group{{Name: "a", Unlent: unlent}},
		}
		s := New(cfg, time.Unix(0, 0))
		cost := rapid.Float64Range(1, 100).Draw(r, "cost")
		served(s, []float64{0, cost}, 1, time.Unix(0, 0), 5*time.Minute)
		b := s.slots[0]
		if kept := unlent * share * b.Capacity; b.accounts[0].credit < kept*(1-1e-9) {
			t.Fatalf("it has %v ready, of %v that are not lent", b.accounts[0].credit, kept)
		}
		got := served(s, []float64{0, cost}, 1, time.Unix(300, 0), 5*time.Minute)[1]
		want := 100 * 300 * (1 - share*unlent)
		if math.Abs(got-want) > 0.01*want+200 {
			t.Errorf("the others had %v of what they may have, %v", got, want)
		}
	})
}

// Who goes at once with what it borrows may pass the turn to a group that waits for it: then Next is due at once.
func TestACallThatGoesAtOncePassesTheTurn(t *testing.T) {
	s := New(Config{
		Buckets: []Bucket{{Name: "slow", Rate: 1. / 12, Capacity: 10, StartEmpty: true}, {Name: "fast", Rate: 10, Capacity: 10}},
		Lanes:   []Lane{{Name: "large", Share: 1. / 3}, {Name: "other", Share: 1. / 3}, {Name: "small", Share: 1. / 3, Group: "a", Hold: -1}},
		Groups:  []Group{{Name: "a"}},
	}, origin)
	now := origin.Add(5500 * time.Millisecond)
	s.Submit(&Call{Lane: 0, Costs: []Cost{{Bucket: 0, Amount: 1}}}, origin)
	small := &Call{Lane: 2, Costs: []Cost{{Bucket: 0, Amount: 1. / 32}, {Bucket: 1, Amount: 1}}}
	if v := s.Submit(small, now); v.State != Queued || len(s.Advance(now, nil)) > 0 {
		t.Fatalf("beside a larger one whose turn is before: %+v", v)
	}
	if v := s.Submit(&Call{Lane: 1, Costs: []Cost{{Bucket: 1, Amount: 2.5}}}, now); v.State != Admitted {
		t.Fatalf("of the bucket that is full: %+v", v)
	}
	if at, due := s.Next(now); !due || at.After(now) {
		t.Errorf("Next is due at %v, %v, and it is %v", at, due, now)
	}
	if s.Advance(now, nil); small.Verdict().State != Admitted {
		t.Errorf("its turn has come: %+v", small.Verdict())
	}
}
