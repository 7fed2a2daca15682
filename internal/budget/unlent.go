// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

// What a group does not lend is its own though it is idle: of its refill what its lanes cannot keep is lost.

// reserve is what of one bucket's refill a group keeps to itself.
type reserve struct {
	unlent   float64
	group    *group
	accounts []int32
	spare    float64
}

// grouped finds the groups with accounts in the bucket that do not lend all.
func (b *bucket) grouped(lanes []*lane) {
	b.reserves = nil
	for i, l := range lanes {
		at := placeIn(b.places, i)
		if at < 0 || at >= len(b.accounts) {
			continue
		}
		b.accounts[at].unlent = 0
		if l.group != nil && l.group.Unlent > 0 && b.Kind == Continuous {
			b.accounts[at].unlent = l.group.Unlent
			b.reserveFor(l.group, at)
		}
	}
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

// keep works out what of a gain the group does not lend and its lanes cannot keep.
func (r *reserve) keep(b *bucket, gain float64) {
	own, kept := 0.0, 0.0
	for _, i := range r.accounts {
		a := &b.accounts[i]
		own += a.share * gain
		kept += min(a.share*gain, max(0, a.ceiling()-a.credit))
	}
	r.spare = max(0, own*r.unlent-kept)
}

// use gives that to the lanes of the group that wait, and returns what is lost.
func (r *reserve) use(b *bucket) float64 {
	for _, i := range r.accounts {
		a := &b.accounts[i]
		if more := min(r.spare, a.ceiling()-a.credit); more > 0 {
			a.credit += more
			r.spare -= more
		}
	}
	return r.spare
}
