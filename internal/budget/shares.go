// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

// A bucket has an account for each lane, or where it states shares for the lanes that it names alone: a scheduler of
// hundreds of lanes has many buckets that few of them need. A lane that comes to such a bucket unnamed gets one.

// manyLanes is from how many accounts on sums are kept rather than taken anew.
const manyLanes = 16

// pos is where the lane's account is.
func (b *bucket) pos(lane int) int {
	if b.places == nil {
		return lane
	}
	return b.placed(lane)
}

func (b *bucket) account(lane int) *account {
	if b.places != nil {
		lane = b.placed(lane)
	}
	return &b.accounts[lane]
}

// placed is where the lane's account is among those of lanes that were named or came; it has one from now on.
func (b *bucket) placed(lane int) int {
	if at := b.places[lane]; at >= 0 {
		return int(at)
	}
	l := b.known[lane]
	a := b.add(lane)
	a.follow(l.Lane)
	a.share = b.shareOf(l.Lane)
	b.setHold(a)
	if l.group != nil && l.group.Name != "" {
		// It may keep what the others of its group cannot.
		b.grouped(b.known)
	}
	return len(b.accounts) - 1
}

// open begins the accounts anew, for so many lanes.
func (b *bucket) open(lanes []*lane) {
	b.accounts, b.places, b.known, b.summed = nil, nil, nil, false
	if b.Shares == nil {
		return
	}
	b.known, b.places = lanes, make([]int32, len(lanes))
	for i := range b.places {
		b.places[i] = -1
	}
}

// add makes the account of a lane that has none.
func (b *bucket) add(lane int) *account {
	if b.places != nil {
		b.places[lane] = int32(len(b.accounts)) // #nosec G115 -- lanes are few
	}
	b.accounts = append(b.accounts, account{})
	b.summed = false
	return &b.accounts[len(b.accounts)-1]
}

func placeIn(places []int32, lane int) int {
	if places == nil {
		return lane
	}
	return int(places[lane])
}

// names says whether the lane has an account from the start.
func (b *bucket) names(l Lane) bool {
	if b.Shares == nil {
		return true
	}
	_, named := (*b.Shares)[l.Name]
	return named
}

// shareOf is the lane's share of this bucket.
func (b *bucket) shareOf(l Lane) float64 {
	if b.Shares == nil {
		return l.Share
	}
	return min(finite((*b.Shares)[l.Name]), 1)
}

// reshare makes the accounts anew after the bucket's shares changed; lanes keep what they have.
func (s *Scheduler) reshare(b *bucket) {
	from := make([]int, len(s.lanes))
	old := len(b.places)
	for i := range from {
		from[i] = -1
		if b.places == nil && i < len(b.accounts) || i < old {
			from[i] = i
		}
	}
	b.rebook(s.lanes, from)
	b.grouped(s.lanes)
}

// setCredit changes one lane's credit.
func (b *bucket) setCredit(a *account, credit float64) {
	if b.summed {
		b.recredit(a, credit)
	}
	a.credit = credit
}

func (b *bucket) recredit(a *account, credit float64) { b.claimed += max(credit, 0) - a.positive() }

// credits are all positive ones.
func (b *bucket) credits() float64 {
	if !b.summed {
		b.claimed, b.summed = 0, true
		for j := range b.accounts {
			b.claimed += b.accounts[j].positive()
		}
	}
	return b.claimed
}
