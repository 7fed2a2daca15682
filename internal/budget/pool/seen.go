// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"math"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// What holders say that the provider has lowers P at once: others may use the account too. But a holder may lie, or read an
// answer wrongly. So what one says alone holds for a few intervals, and longer only while it goes on spending what it was
// granted, as who gets answers does; while P is down it is granted nothing more. When another says as much, it is true. When
// another's later answer leaves far more than the rate can have brought since, it was not: it is void, and of who said it
// nothing is believed for a time. What a void word lowered comes back, as far as P has lacked it ever since.

const (
	// trusted is for how many intervals one holder's word lowers P.
	trusted = 3
	// distrust is for how long nothing is believed of a holder whose word was not true. It doubles each time, up to most.
	distrust, mostDistrust = time.Minute, 32 * time.Minute
	// maxSights are the words that lower one budget's level at a time, and the holders of whom nothing is believed.
	maxSights = 16
	// confirming is which part of a small call a holder must have spent to say a low level again.
	confirming = 0.25
	// agreeing and contradicting are by which parts of the capacity answers that are both true may differ, surely and at
	// the most: an answer to a call that was long under way leaves as much open as the rate brought meanwhile.
	agreeing, contradicting = 0.05, 0.25
)

// sighting is one holder's word that lowered a level.
type sighting struct {
	holder *holder
	// most is what it said the provider has, at a time.
	most float64
	at   time.Time
	// lowered is by how much P was lower then, least the least that P lacked of its room since that moment.
	lowered, least float64
	since          int64
}

// sightings are those of one budget, the oldest first, and of whom nothing is believed.
type sightings struct {
	of      []sighting
	doubted map[string]doubt
}

type doubt struct {
	until  time.Time
	length time.Duration
}

// see takes in facts from outside: all that may be spent is within what the provider has. What others took comes out of P
// alone, for holders have theirs already; so P stays behind by what they have spent and not reported, which the guard covers.
func (p *Pool) see(a *account, seen []Amount) {
	for _, s := range seen {
		b, ok := p.byName[s.Budget]
		if !ok || b.of != nil || b.Kind != budget.Continuous || math.IsNaN(s.Units) || !a.holder.mayTouch(b) {
			continue
		}
		if b.sight.doubts(a.key.Holder, p.now) {
			continue
		}
		p.compare(a.holder, b, s.Units)
		if p.mayRepeat(a, b) {
			p.lower(a, b, s.Units)
		}
	}
}

func (s *sightings) doubts(name string, now time.Time) bool { return s.doubted[name].until.After(now) }

// compare holds a word against those of before.
func (p *Pool) compare(h *holder, b *purse, most float64) {
	kept := b.sight.of[:0]
	for _, s := range b.sight.of {
		could := s.most + b.Rate*p.now.Sub(s.at).Seconds()
		switch more := (most - could) / b.Capacity; {
		case more <= agreeing && s.holder != h:
			// Two say so: it stays.
		case more > contradicting && s.holder != h:
			p.unsee(b, &s)
			b.sight.doubt(s.holder.name, p.now)
		default:
			kept = append(kept, s)
		}
	}
	clear(b.sight.of[len(kept):])
	b.sight.of = kept
}

// mayRepeat says whether a holder's word counts: it does once, and then when something of what it was granted was spent.
func (p *Pool) mayRepeat(a *account, b *purse) bool {
	for _, k := range a.books {
		if k.purse != b {
			continue
		}
		spent := min(k.spent, k.granted)
		if k.sighted && spent < k.sightedAt+confirming*b.SmallCall {
			return false
		}
		k.sighted, k.sightedAt = true, spent
		p.renew(a.holder, b)
		return true
	}
	return false
}

// renew has what a holder said before hold on.
func (p *Pool) renew(h *holder, b *purse) {
	for i := range b.sight.of {
		if s := &b.sight.of[i]; s.holder == h {
			s.most += b.Rate * p.now.Sub(s.at).Seconds()
			s.at = p.now
		}
	}
}

// lower lowers P to a holder's word, and remembers by how much.
func (p *Pool) lower(a *account, b *purse, most float64) {
	p.touch(b)
	to := max(most-b.Capacity+p.room(b), -b.Capacity)
	if p.cover(b, to) {
		p.cap(b)
	}
	level := p.sched.Level(b.id, p.now)
	p.sched.Lower(b.id, to-b.lift-b.kept, p.now)
	lowered := level - p.sched.Level(b.id, p.now)
	if lowered <= trifle*b.Capacity {
		return
	}
	if len(b.sight.of) >= maxSights {
		b.sight.of = append(b.sight.of[:0], b.sight.of[1:]...)
	}
	if len(b.sight.of) == 0 {
		p.sighted = append(p.sighted, b)
	}
	b.sight.of = append(b.sight.of, sighting{a.holder, most, p.now, lowered, math.Inf(1), b.slack.at})
	p.meet(p.now.Add(trusted * p.cfg.Interval))
}

// unsee gives back what a word lowered.
func (p *Pool) unsee(b *purse, s *sighting) {
	p.touch(b)
	p.bringBack(b, min(s.lowered, s.least), s.since)
}

// forgetSights ends words that were not confirmed in time.
func (p *Pool) forgetSights() {
	left := p.sighted[:0]
	for _, b := range p.sighted {
		kept := b.sight.of[:0]
		for _, s := range b.sight.of {
			if end := s.at.Add(trusted * p.cfg.Interval); end.After(p.now) {
				kept = append(kept, s)
				p.meet(end)
			} else {
				p.unsee(b, &s)
			}
		}
		clear(b.sight.of[len(kept):])
		if b.sight.of = kept; len(kept) > 0 {
			left = append(left, b)
		}
	}
	clear(p.sighted[len(left):])
	p.sighted = left
}

// doubt notes that a holder's word was not true.
func (s *sightings) doubt(name string, now time.Time) {
	for other, d := range s.doubted {
		if d.until.Add(d.length).Before(now) {
			delete(s.doubted, other)
		}
	}
	if s.doubted == nil {
		s.doubted = map[string]doubt{}
	}
	d, known := s.doubted[name]
	if !known && len(s.doubted) >= maxSights {
		return
	}
	d.length = min(max(2*d.length, distrust), mostDistrust)
	d.until = now.Add(d.length)
	s.doubted[name] = d
}
