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

// passOn adds what full lanes pass on to the claims of those that have it, and takes what is lost off the rate at which the
// level rises.
func (b *bucket) passOn(v *view, i int) {
	for k := range b.reserves {
		r := &b.reserves[k]
		passed, heir := r.passed(b)
		if heir < 0 {
			v.rate -= passed * r.unlent
			continue
		}
		if heir == i {
			v.own += passed
		}
		if c := v.claimOf(heir, i); b.accounts[heir].credit >= 0 {
			c.slope += passed
		}
	}
}

// passed is the rate of what the group's full lanes cannot keep, and who has it: the first that is not full, or nobody.
func (r *reserve) passed(b *bucket) (sum float64, heir int) {
	heir = -1
	for _, j := range r.accounts {
		switch a := &b.accounts[j]; {
		case a.full(b):
			sum += a.share * b.Rate
		case heir < 0:
			heir = int(j)
		}
	}
	return sum, heir
}

// fills is when one more of the group's lanes, but for the i-th, is full.
func (r *reserve) fills(b *bucket, v *view, i int) float64 {
	until := math.Inf(1)
	passed, heir := r.passed(b)
	for _, j := range r.accounts {
		a, slope := &b.accounts[j], b.accounts[j].share*b.Rate
		if int(j) == heir {
			slope += passed
		}
		if int(j) != i && !a.full(b) {
			until = min(until, b.creditAfter(v, int(j), a.ceiling(), slope))
		}
	}
	return until
}

// full says whether the account keeps no more.
func (a *account) full(b *bucket) bool { return a.credit+b.eps >= a.ceiling() }

// claimOf is account j's claim in a view of the i-th that has its own claim last.
func (v *view) claimOf(j, i int) *claim {
	switch {
	case j == i:
		j = len(v.claims) - 1
	case j > i:
		j--
	}
	return &v.claims[j]
}
