// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"math"
	"slices"
)

// What the lanes of a group have is the group's: what one of them cannot keep of its refill goes to those that wait, so that
// an owner has all of its part with whichever of its lanes it uses. What is left then is lent. What a group does not lend is
// its own though it is idle, and is lost.

// reserve is what of one bucket's refill a group keeps to itself.
type reserve struct {
	unlent   float64
	group    *group
	accounts []int32
	// spare is what its lanes cannot keep of a gain, lost what of that would be lost.
	spare, lost float64
}

// grouped finds the groups with accounts in the bucket that have something to pass on, or do not lend all.
func (b *bucket) grouped(lanes []*lane) {
	b.reserves = nil
	for i, l := range lanes {
		at := placeIn(b.places, i)
		if at < 0 || at >= len(b.accounts) {
			continue
		}
		b.accounts[at].unlent = 0
		if l.group != nil && l.group.Name != "" && b.Kind == Continuous {
			b.accounts[at].unlent = l.group.Unlent
			b.reserveFor(l.group, at)
		}
	}
	b.reserves = slices.DeleteFunc(b.reserves, func(r reserve) bool { return r.unlent == 0 && len(r.accounts) < 2 })
}

func (b *bucket) reserveFor(g *group, place int) {
	at := int32(place) // #nosec G115 -- lanes are few
	for k := range b.reserves {
		if r := &b.reserves[k]; r.group == g {
			r.accounts = append(r.accounts, at)
			return
		}
	}
	b.reserves = append(b.reserves, reserve{unlent: g.Unlent, group: g, accounts: []int32{at}})
}

// keep works out what of a gain the group's lanes cannot keep.
func (r *reserve) keep(b *bucket, gain float64) {
	own, kept := 0.0, 0.0
	for _, i := range r.accounts {
		a := &b.accounts[i]
		own += a.share * gain
		kept += min(a.share*gain, max(0, a.ceiling()-a.credit))
	}
	r.spare, r.lost = max(0, own-kept), max(0, own*r.unlent-kept)
}

// use gives that to the lanes of the group that can keep more, and returns what is lost.
func (r *reserve) use(b *bucket) float64 {
	for _, i := range r.accounts {
		a := &b.accounts[i]
		if more := min(r.spare, a.ceiling()-a.credit); more > 0 {
			a.credit += more
			r.spare -= more
			r.lost -= more
		}
	}
	return max(0, r.lost)
}

// ownSlope is how fast a lane's credit grows at most, its group passing on to it what full lanes cannot keep, and for how long
// that is so: until one more of them is full.
func (b *bucket) ownSlope(lane int) (slope, until float64) {
	i := b.pos(lane)
	slope, until = b.accounts[i].share*b.Rate, math.Inf(1)
	for k := range b.reserves {
		r := &b.reserves[k]
		if !slices.Contains(r.accounts, int32(i)) { // #nosec G115 -- lanes are few
			continue
		}
		passed := r.passed(b)
		for _, j := range r.accounts {
			if a := &b.accounts[j]; int(j) != i && a.credit+b.eps < a.ceiling() {
				until = min(until, after(a.ceiling()-a.credit, a.share*b.Rate+passed, b.eps))
			}
		}
		slope += passed
	}
	return slope, until
}

// passed is the rate of what the group's full lanes cannot keep.
func (r *reserve) passed(b *bucket) float64 {
	sum := 0.0
	for _, j := range r.accounts {
		if a := &b.accounts[j]; a.credit+b.eps >= a.ceiling() {
			sum += a.share * b.Rate
		}
	}
	return sum
}
