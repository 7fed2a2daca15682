// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A bucket that names its lanes decides as one that has an account for every lane, with the same shares.
func TestBucketsThatNameTheirLanesDecideAlike(t *testing.T) {
	check(t, 200, func(r *rapid.T) {
		lanes := rapid.IntRange(2, 40).Draw(r, "lanes")
		named := rapid.IntRange(1, min(lanes, 20)).Draw(r, "named")
		dense := Config{Buckets: []Bucket{{Name: "b", Rate: 100, Capacity: 2000, Window: time.Minute}}}
		shares := map[string]float64{}
		for i := range lanes {
			l := Lane{Name: fmt.Sprint(i), Priority: rapid.Int32Range(0, 2).Draw(r, "priority")}
			if i < named {
				l.Share = 1 / float64(named)
				shares[l.Name] = l.Share
			}
			dense.Lanes = append(dense.Lanes, l)
		}
		sparse := dense
		sparse.Buckets = append([]Bucket(nil), dense.Buckets...)
		sparse.Buckets[0].Shares = &shares
		sparse.Lanes = append([]Lane(nil), dense.Lanes...)
		for i := range sparse.Lanes {
			// It does not matter here.
			sparse.Lanes[i].Share = 0
		}
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
