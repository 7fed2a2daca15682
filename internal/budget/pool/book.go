// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"math"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// book is an account's counters of one budget, since it was opened: sums over years lose their small parts.
type book struct {
	purse   *purse
	account *account
	// user is its place among the purse's users.
	user int
	// named is the sequence of the newest report that named it.
	named uint64
	// opened is what was reported then.
	opened Count
	// granted includes what the book was opened with; credited is what came back of refunded.
	granted, spent, returned, refunded, credited float64
	slots                                        []*slot
	// share is how many slots it may have.
	share slotShare
	// bulk is what of it was for large calls and is not spent, as far as is known.
	bulk float64
	// small is what small calls were granted of late, needs what they need in a second, and expected what they may expect.
	small           average
	needs, expected float64
	// told is the stamp of the first grant that said what is expected now.
	told int64
	// sighted says that the holder's word about the level counted, when sightedAt was spent.
	sighted   bool
	sightedAt float64
	// mirrors are the shadows that it is charged to.
	mirrors []mirror
}

// mirror is what of a book's balance one shadow is charged for.
type mirror struct {
	purse *purse
	held  float64
	// granted is cumulative.
	granted float64
}

// total is what the holder is told that it was granted: counted as it counts.
func (k *book) total() float64 { return k.opened.Spent + k.opened.Returned + k.granted }

// outstanding is H; below zero is what the holder owes.
func (k *book) outstanding() float64 { return k.granted - k.spent - k.returned }

// book returns the account's of a budget, nil if it may have none: a holder has few budgets.
func (p *Pool) book(a *account, b *purse) *book {
	for _, k := range a.books {
		if k.purse == b {
			return k
		}
	}
	if b.of != nil || !a.holder.mayTouch(b) {
		return nil
	}
	k := &book{purse: b, account: a}
	if len(a.books) < maxBudgets {
		a.books = append(a.books, k)
		a.extend()
	} else if !p.evict(a, k) {
		return nil
	}
	k.user = len(b.users)
	b.users = append(b.users, k)
	return k
}

// extend makes room for the newest book in all that is kept by book.
func (a *account) extend() {
	for _, l := range a.lanes {
		l.units = append(l.units, 0)
	}
	for _, c := range a.claims {
		c.left, c.units = append(c.left, 0), append(c.units, 0)
	}
}

// evict puts a book in place of one of which the holder says nothing any longer, and has nothing.
func (p *Pool) evict(a *account, k *book) bool {
	i := slices.IndexFunc(a.books, func(old *book) bool {
		return old.named+1 < a.seq && old.outstanding() == 0 && len(old.slots) == 0
	})
	if i < 0 {
		return false
	}
	for _, c := range a.claims {
		if c.left[i] > 0 || c.units[i] > 0 {
			p.unqueue(c)
			c.left[i], c.units[i] = 0, 0
		}
	}
	a.books[i].leave()
	a.books[i] = k
	for _, l := range a.lanes {
		l.units[i] = 0
	}
	return true
}

// leave takes the book out of its purse's users.
func (k *book) leave() {
	users := k.purse.users
	last := users[len(users)-1]
	users[k.user], last.user = last, k.user
	users[len(users)-1] = nil
	k.purse.users = users[:len(users)-1]
}

// begin opens a book with what the holder says.
func (p *Pool) begin(k *book, c Count) {
	p.touch(k.purse)
	k.opened = c
	k.granted = p.adopt(k, c.Held)
	held := max(0, k.granted)
	k.purse.held += held
	for _, s := range p.shadowsOf(k) {
		// It may have been granted to any of its lanes.
		p.touch(s)
		s.held += held
		s.unknown -= min(held, s.unknown)
		k.mirrors = append(k.mirrors, mirror{s, held, held})
	}
}

// shadowsOf are those that the holder's lanes may charge.
func (p *Pool) shadowsOf(k *book) []*purse {
	var out []*purse
	for lane, shadows := range k.purse.charged {
		if !k.account.holder.mayAsk(p.cfg.Lanes[lane].Name) {
			continue
		}
		for _, s := range shadows {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// adopt is how much of what a holder says it has it may keep: what an earlier leader may have granted, and slots that
// are still its own.
func (p *Pool) adopt(k *book, held float64) float64 {
	b, own := k.purse, 0.0
	if b.Kind == budget.Slots {
		own = p.reclaim(k, held)
	}
	took := max(min(held-own, b.unknown), -b.Capacity)
	if took <= 0 {
		return own + took
	}
	b.unknown -= took
	if b.Kind == budget.Slots {
		for range int(took) {
			k.slots = append(k.slots, &slot{outside: true})
		}
		b.outside += took
	}
	return own + took
}

// reclaim gives a holder that was silent those of its slots that are in use, and frees the others.
func (p *Pool) reclaim(k *book, held float64) float64 {
	kept := p.idle[:0]
	for _, s := range p.idle {
		switch {
		case s.key != k.account.key || s.purse != k.purse:
			kept = append(kept, s)
		case float64(len(k.slots)) < held:
			k.slots = append(k.slots, s)
		default:
			p.release(k.purse, s)
		}
	}
	clear(p.idle[len(kept):])
	p.idle = kept
	return float64(len(k.slots))
}

// granted books what a lane was granted, and charges the shadows.
func (k *book) grant(u float64, shadows []*purse) {
	b := k.purse
	before := max(0, k.outstanding())
	k.granted += u
	b.granted += u
	more := max(0, k.outstanding()) - before
	b.held += more
	for _, s := range shadows {
		m := k.mirror(s)
		m.held += more
		m.granted += u
		s.held += more
		s.granted += u
	}
}

func (k *book) mirror(s *purse) *mirror {
	for i := range k.mirrors {
		if k.mirrors[i].purse == s {
			return &k.mirrors[i]
		}
	}
	k.mirrors = append(k.mirrors, mirror{purse: s})
	return &k.mirrors[len(k.mirrors)-1]
}

// fall books that less is outstanding than before, with the shadows in proportion; what is given back lifts them.
func (p *Pool) fall(k *book, before float64, back bool) {
	after := max(0, k.outstanding())
	k.purse.held += after - before
	if before <= 0 {
		return
	}
	for i := range k.mirrors {
		m := &k.mirrors[i]
		less := m.held * (1 - after/before)
		if after == 0 {
			less = m.held
		}
		m.held -= less
		m.purse.held -= less
		if back {
			m.purse.returned += less
			m.purse.lift += less
		} else {
			m.purse.spent += less
		}
	}
}

// touch touches all that the book is charged to.
func (p *Pool) touchBook(k *book) {
	p.touch(k.purse)
	for i := range k.mirrors {
		p.touch(k.mirrors[i].purse)
	}
}

// enter enters a report's counters of one budget: the maximum of each, as far as it can be true.
func (p *Pool) enter(k *book, c Count) {
	b := k.purse
	p.touchBook(k)
	before := max(0, k.outstanding())
	// Nobody owes more than a whole burst.
	if spent := min(c.Spent-k.opened.Spent, k.granted-k.returned+b.Capacity); spent > k.spent {
		more := spent - k.spent
		b.spent += more
		k.bulk = max(0, k.bulk-more)
		k.account.spendBulk(k, more)
		k.spent = spent
		p.fall(k, before, false)
	}
	before = max(0, k.outstanding())
	if back := min(c.Returned-k.opened.Returned, k.granted-k.spent) - k.returned; back > 0 {
		k.returned += back
		b.returned += back
		if b.Kind == budget.Slots {
			p.giveBackSlots(k, back)
		} else {
			b.lift += back
			k.bulk = max(0, k.bulk-back)
			k.account.spendBulk(k, back)
			k.small.add(-back, p.elapsed(), smallTime)
		}
		p.fall(k, before, true)
	}
	p.refund(k, c.Refunded-k.opened.Refunded)
}

func (p *Pool) giveBackSlots(k *book, n float64) {
	for ; n > 0 && len(k.slots) > 0; n-- {
		last := len(k.slots) - 1
		p.release(k.purse, k.slots[last])
		k.slots = k.slots[:last]
	}
}

// refund brings back what was not spent after all, as far as it would have lifted the level when that happened. That was
// after the report before, so after the stamp which that quoted.
func (p *Pool) refund(k *book, refunded float64) {
	more := refunded - k.refunded
	if more <= 0 {
		return
	}
	k.refunded = refunded
	if k.account.quoted == 0 {
		return
	}
	since := p.moment(time.Duration(k.account.quoted))
	more = min(more, k.spent-k.credited)
	credited := p.bringBack(k.purse, min(more, k.purse.lacked(since)), since)
	k.credited += credited
	k.purse.refunded += credited
	for i := range k.mirrors {
		m := &k.mirrors[i]
		part := credited * min(1, m.granted/max(k.granted, math.SmallestNonzeroFloat64))
		m.purse.refunded += p.bringBack(m.purse, min(part, m.purse.lacked(since)), since)
	}
}

// bringBack lifts a level by what left it after a moment and has been lacking ever since.
func (p *Pool) bringBack(b *purse, units float64, since int64) float64 {
	if !(units > 0) {
		return 0
	}
	b.slack.fill(since, units)
	for i := range b.sight.of {
		b.sight.of[i].least -= units
	}
	b.lift += units
	return units
}
