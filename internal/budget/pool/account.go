// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"math"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// Bounds of what is kept, and their reasons.
const (
	// maxHolders is above what one leader serves.
	maxHolders = 16384
	// maxAccounts are incarnations that may still hold something.
	maxAccounts = 2 * maxHolders
	// maxIncarnations of one name: one that restarts in a loop waits until those before have ended.
	maxIncarnations = 4
	// maxTombs are ended incarnations whose late reports are known.
	maxTombs = 4096
)

// account is what one incarnation of a holder has at this leader.
type account struct {
	key  Key
	term Term
	// seq is the newest report's.
	seq   uint64
	books []book
	// lanes are by the names that the holder uses.
	lanes []*laneBook
	// stamp is the newest that was sent to it, quoted that of its newest report.
	stamp, quoted int64
	// sure is until when it surely has a lease, over is when it surely has none. When it is quiet nothing more is granted.
	sure, over, quiet time.Time
	connected         bool
	claims            []*claim
	changed           bool
}

// book is an account's counters of one budget, since it was opened: sums over years lose their small parts.
type book struct {
	// opened is what was reported then.
	opened Count
	// granted includes what the account was opened with; credited is what came back of refunded.
	granted, spent, returned, refunded, credited float64
	slots                                        []*slot
	// bulk is what of it was for large calls and is not spent, as far as is known.
	bulk float64
	// small is what small calls were granted of late, needs what they need in a second, and expected what they may expect.
	small           average
	needs, expected float64
}

// total is what the holder is told that it was granted: counted as it counts.
func (b *book) total() float64 { return b.opened.Spent + b.opened.Returned + b.granted }

// laneBook is what one lane was granted.
type laneBook struct {
	name  string
	units []float64
	bulk  uint64
}

// lane returns the book of a lane; nil if the holder names too many.
func (a *account) lane(name string) *laneBook {
	for _, l := range a.lanes {
		if l.name == name {
			return l
		}
	}
	if len(a.lanes) >= maxLanes || len(name) > maxName {
		return nil
	}
	l := &laneBook{name: name, units: make([]float64, len(a.books))}
	a.lanes = append(a.lanes, l)
	return l
}

// slot is a granted slot: a call of the scheduler that lasts until it is given back, or one beside the scheduler.
type slot struct {
	call    budget.Call
	outside bool
	// key, purse and free are of one whose holder is silent: it comes back at that time.
	key   Key
	purse int
	free  time.Time
}

// outstanding is H; below zero is what the holder owes.
func (b *book) outstanding() float64 { return b.granted - b.spent - b.returned }

// open makes an account for a holder that is heard of for the first time, or again after its account was closed.
func (p *Pool) open(r *Report) (*account, error) {
	key := Key{r.Holder, r.Incarnation}
	h := p.holder(r.Holder)
	if h == nil || len(p.accounts) >= maxAccounts || h.accounts >= maxIncarnations {
		return nil, ErrTooMany
	}
	p.openings++
	a := &account{
		key: key, term: Term{p.epoch, p.openings}, books: make([]book, len(p.purses)),
	}
	for i, c := range p.counts(r) {
		k := &a.books[i]
		k.opened = c
		k.granted = p.adopt(key, i, k, c.Held)
		p.purses[i].held += max(0, k.granted)
	}
	for _, earlier := range p.list {
		if earlier.key.Holder == r.Holder {
			// It has probably ended.
			p.withdraw(earlier)
		}
	}
	p.accounts[key] = a
	p.list = append(p.list, a)
	was := h.silent()
	h.accounts++
	p.resilence(h, was)
	return a, nil
}

// adopt is how much of what a holder says it has it may keep: what an earlier leader may have granted, and slots that
// are still its own.
func (p *Pool) adopt(key Key, i int, k *book, held float64) float64 {
	b := p.purses[i]
	own := 0.0
	if b.Kind == budget.Slots {
		own = p.reclaim(key, i, k, held)
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
func (p *Pool) reclaim(key Key, i int, k *book, held float64) float64 {
	kept := p.idle[:0]
	for _, s := range p.idle {
		switch {
		case s.key != key || s.purse != i:
			kept = append(kept, s)
		case float64(len(k.slots)) < held:
			k.slots = append(k.slots, s)
		default:
			p.release(i, s)
		}
	}
	clear(p.idle[len(kept):])
	p.idle = kept
	return float64(len(k.slots))
}

// release gives a slot back.
func (p *Pool) release(i int, s *slot) {
	if !s.outside {
		p.sched.Settle(&s.call, nil, p.now)
		return
	}
	p.purses[i].outside--
	p.sched.Ensure(p.bucket(p.purses[i]), p.now)
}

// counts are a report's counters by budget, made harmless. A budget it does not name counts as zero.
func (p *Pool) counts(r *Report) []Count {
	out := make([]Count, len(p.purses))
	for _, c := range r.Counts {
		i, ok := p.byName[c.Budget]
		if !ok {
			continue
		}
		out[i] = Count{c.Budget, clean(c.Spent), clean(c.Returned), clean(c.Refunded), 0}
		if !math.IsNaN(c.Held) {
			out[i].Held = min(max(c.Held, -largest), largest)
		}
		if p.purses[i].Kind == budget.Slots {
			out[i].Spent, out[i].Refunded = 0, 0
			out[i].Returned, out[i].Held = math.Floor(out[i].Returned), max(0, math.Floor(out[i].Held))
		}
	}
	return out
}

// enter enters a report's counters of one budget: the maximum of each, as far as it can be true.
func (p *Pool) enter(a *account, i int, c Count) {
	b, k := p.purses[i], &a.books[i]
	before := max(0, k.outstanding())
	// Nobody owes more than a whole burst.
	if spent := min(c.Spent-k.opened.Spent, k.granted-k.returned+b.Capacity); spent > k.spent {
		b.spent += spent - k.spent
		k.bulk = max(0, k.bulk-(spent-k.spent))
		k.spent = spent
	}
	if back := min(c.Returned-k.opened.Returned, k.granted-k.spent) - k.returned; back > 0 {
		k.returned += back
		b.returned += back
		if b.Kind == budget.Slots {
			for ; back > 0 && len(k.slots) > 0; back-- {
				last := len(k.slots) - 1
				p.release(i, k.slots[last])
				k.slots = k.slots[:last]
			}
		} else {
			b.lift += back
			k.bulk = max(0, k.bulk-back)
			k.small.add(-back, p.now.Sub(p.start), smallTime)
		}
	}
	p.refund(a, b, k, c.Refunded-k.opened.Refunded)
	b.held += max(0, k.outstanding()) - before
}

// refund brings back what was not spent after all, as far as it would have lifted the level when that happened. That was
// after the report before, so after the stamp which that quoted.
func (p *Pool) refund(a *account, b *purse, k *book, refunded float64) {
	more := refunded - k.refunded
	if more <= 0 {
		return
	}
	k.refunded = refunded
	if a.quoted == 0 {
		return
	}
	since := p.moment(time.Duration(a.quoted))
	more = min(more, k.spent-k.credited, b.lacked(since))
	if more > 0 {
		b.slack.fill(since, more)
		k.credited += more
		b.refunded += more
		b.lift += more
	}
}
