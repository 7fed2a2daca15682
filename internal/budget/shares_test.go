// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// namedAlike is a configuration with an account for every lane, and the same where the bucket names those that have a share.
func namedAlike(dense Config) (sparse Config) {
	shares := map[string]float64{}
	sparse = dense
	sparse.Lanes = append([]Lane(nil), dense.Lanes...)
	for i, l := range dense.Lanes {
		if l.Share > 0 {
			shares[l.Name] = l.Share
		}
		// The bucket's own count.
		sparse.Lanes[i].Share = 0
	}
	sparse.Buckets = append([]Bucket(nil), dense.Buckets...)
	sparse.Buckets[0].Shares = &shares
	return sparse
}

// lanesOfGroups draws lanes of which the first ones have equal shares.
func lanesOfGroups(r *rapid.T, lanes, named int) Config {
	cfg := Config{Buckets: []Bucket{{Name: "b", Rate: 100, Capacity: 2000, Window: time.Minute}}, Patient: rapid.Bool().Draw(r, "patient")}
	for g := range rapid.IntRange(0, 3).Draw(r, "groups") {
		cfg.Groups = append(cfg.Groups, Group{Name: fmt.Sprint("g", g), Unlent: rapid.Float64Range(0, 1).Draw(r, "unlent")})
	}
	for i := range lanes {
		l := Lane{Name: fmt.Sprint(i), Priority: rapid.Int32Range(0, 2).Draw(r, "priority")}
		if n := len(cfg.Groups); n > 0 {
			l.Group = cfg.Groups[rapid.IntRange(0, n-1).Draw(r, "group")].Name
		}
		if i < named {
			l.Share = 1 / float64(named)
		}
		cfg.Lanes = append(cfg.Lanes, l)
	}
	return cfg
}

// A bucket that names its lanes decides as one that has an account for every lane, with the same shares.
func TestBucketsThatNameTheirLanesDecideAlike(t *testing.T) {
	check(t, 200, func(r *rapid.T) {
		lanes := rapid.IntRange(2, 40).Draw(r, "lanes")
		dense := lanesOfGroups(r, lanes, rapid.IntRange(1, min(lanes, 20)).Draw(r, "named"))
		sparse := namedAlike(dense)
		now := time.Unix(0, 0)
		a, b := New(dense, now), New(sparse, now)
		var as, bs []*Call
		for range rapid.IntRange(1, 80).Draw(r, "steps") {
			now = now.Add(time.Duration(rapid.Int64Range(0, 2e9).Draw(r, "pause")))
			c := Call{Lane: rapid.IntRange(0, lanes-1).Draw(r, "lane"), Costs: []Cost{{Bucket: 0, Amount: rapid.Float64Range(1, 500).Draw(r, "cost")}}}
			if rapid.Bool().Draw(r, "late") {
				c.Deadline = now.Add(time.Duration(rapid.Int64Range(0, 20e9).Draw(r, "deadline")))
			}
			x, y := c, c
			as, bs = append(as, &x), append(bs, &y)
			a.Submit(&x, now)
			b.Submit(&y, now)
			if rapid.IntRange(0, 9).Draw(r, "edit") == 0 {
				a.Apply(dense, now)
				b.Apply(sparse, now)
			}
			a.Advance(now, nil)
			b.Advance(now, nil)
			for i := range as {
				if as[i].Verdict().State != bs[i].Verdict().State {
					r.Fatalf("call %d of %d: %+v, and %+v where the lanes are named", i, len(as), as[i].Verdict(), bs[i].Verdict())
				}
			}
			if i := rapid.IntRange(0, len(as)-1).Draw(r, "settled"); as[i].Verdict().State == Admitted {
				a.Settle(as[i], nil, now)
				b.Settle(bs[i], nil, now)
			}
			if !near(a.slots[0].level, b.slots[0].level, 1e-6) {
				r.Fatalf("levels %v and %v", a.slots[0].level, b.slots[0].level)
			}
		}
		if n := len(b.slots[0].accounts); n > lanes {
			r.Fatalf("%d accounts of %d lanes", n, lanes)
		}
	})
}

// A lane that the bucket does not name has its priority there from its first call on: what it may expect of the bucket
// beside others that only borrow depends on it, and so does whether it is refused.
func TestALaneThatComesUnnamedHasItsPriority(t *testing.T) {
	for name, tc := range map[string]struct {
		priority int32
		want     State
		within   time.Duration
	}{
		"above who has borrowed all of late": {priority: 2, want: Queued, within: 20 * time.Second},
		"beside it":                          {priority: 0, want: Refused, within: time.Duration(forever)},
	} {
		t.Run(name, func(t *testing.T) {
			dense := Config{
				Buckets: []Bucket{{Name: "b", Rate: 100, Capacity: 2000, Window: time.Minute}},
				Lanes:   []Lane{{Name: "owner", Share: 1}, {Name: "borrower"}, {Name: "comer", Priority: tc.priority}},
			}
			var waits []time.Duration
			for _, cfg := range []Config{dense, namedAlike(dense)} {
				s := New(cfg, origin)
				for range 4 {
					if v := s.Submit(&Call{Lane: 1, Costs: []Cost{{Bucket: 0, Amount: 495}}}, origin); v.State != Admitted {
						t.Fatalf("what is to be borrowed before: %+v", v)
					}
				}
				v := s.Submit(&Call{Lane: 2, Costs: []Cost{{Bucket: 0, Amount: 34}}, Deadline: origin.Add(20 * time.Second)}, origin)
				if v.State != tc.want || v.Wait > tc.within {
					t.Errorf("named %t: %+v, want state %v", cfg.Buckets[0].Shares != nil, v, tc.want)
				}
				waits = append(waits, v.Wait)
			}
			if waits[0] != waits[1] {
				t.Errorf("it waits %v, and %v where the lanes are named", waits[0], waits[1])
			}
		})
	}
}

// Calls of a lane are ordered by when they must begin to collect, at the lane's share of the bucket, wherever it is stated.
func TestTheOrderOfALaneIsByTheBucketsShare(t *testing.T) {
	dense := Config{
		Buckets: []Bucket{{Name: "b", Rate: 100, Capacity: 2000, Window: time.Minute, StartEmpty: true}},
		Lanes:   []Lane{{Name: "a", Share: 0.5}, {Name: "b", Share: 0.5}},
	}
	for _, cfg := range []Config{dense, namedAlike(dense)} {
		s := New(cfg, origin)
		// The large one has to begin 40 s earlier than the small one, and is to start 10 s later.
		head, small, large := &Call{}, &Call{Deadline: origin.Add(90 * time.Second)}, &Call{Deadline: origin.Add(100 * time.Second)}
		for c, amount := range map[*Call]float64{head: 1, small: 50, large: 2000} {
			c.Costs = []Cost{{Bucket: 0, Amount: amount}}
		}
		for _, c := range []*Call{head, small, large} {
			if v := s.Submit(c, origin); v.State != Queued {
				t.Fatalf("named %t: %+v", cfg.Buckets[0].Shares != nil, v)
			}
		}
		if small.node.latest <= large.node.latest {
			t.Errorf("named %t: the small call goes first", cfg.Buckets[0].Shares != nil)
		}
	}
}
