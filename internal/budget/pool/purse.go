// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"math"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
)

// purse is one budget's side of the pool, or one shadow's. Its level P is the scheduler's.
type purse struct {
	Budget
	id budget.BucketID
	// of is the budget that a shadow follows, lanes are those that it is charged for.
	of    *purse
	lanes []string
	// charged are a budget's shadows by lane.
	charged map[int][]*purse
	// shares are the scheduler's.
	shares *map[string]float64
	// safeRate and safeBurst are one holder's safe share.
	safeRate, safeBurst float64
	// rate is what the scheduler refills at.
	rate float64
	// debt is what the last leader owed.
	debt float64

	// held is ΣH, of continuous budgets what is owed by holders left out.
	held float64
	// unknown bounds what an earlier leader granted and nobody has reported yet.
	unknown float64
	// outside are slots that are held without a call in the scheduler: those of an earlier leader.
	outside float64
	// leased are the slots that an external budget has of its store.
	leased float64
	// reserved are slots for holders that may have one without a lease, where none owns any: see reserve.
	reserved float64
	// dividedAt is when slots were last divided, turnAt when what does not divide evenly goes to others.
	dividedAt, turnAt time.Duration
	// lift is what was given back and is not in the scheduler's level yet.
	lift float64
	// kept is what of P is kept for parked claims: the scheduler has it no longer.
	kept float64
	// most bounds what may be out, as published; wanted is what it would have to be for a call that waits.
	most, wanted float64
	// published says that most was.
	published bool

	// silent counts holders that may be taking their safe share, known all that there are, beside those of Pool.
	silent, known int
	// over is by how much what holders may take without a lease exceeds their safe shares, overSilent of those that are
	// silent.
	over, overSilent float64
	// asking counts holders' lanes that want to be granted small calls of it.
	asking int
	// sure is by group the sum of its lanes' shares.
	sure []float64
	// users are the books that accounts have of it.
	users []*book
	// touched says that something may have changed since the scheduler was told.
	touched bool
	// retired says that no configuration has it any longer.
	retired bool

	slack slackness
	sight sightings
	// large is what large calls were granted of late, lately by lane what small calls were, of external budgets.
	large  average
	lately map[string]*average

	granted, spent, returned, refunded, burnt, deposited, withdrawn float64
}

func (p *Pool) newPurse(b Budget, by Leader) *purse {
	k := &purse{Budget: b}
	k.safeRate, k.safeBurst = Safe(b, p.cfg.MaxHolders)
	k.most = b.Capacity
	if by.First {
		return k
	}
	k.unknown = b.Capacity
	for _, last := range by.Last.Budgets {
		if last.Name != b.Name {
			continue
		}
		k.debt = min(clean(last.Debt), b.Capacity)
		if last.Outstanding > 0 {
			k.unknown = min(clean(last.Outstanding), b.Capacity)
			k.most, k.published = k.unknown, true
			k.wanted = min(k.Outstanding+k.unknown, b.Capacity)
		}
	}
	if b.Kind == budget.Slots {
		k.unknown = k.shared(p.cfg.MaxHolders)
	}
	return k
}

// largest is more than can be out of it at any time. A call may exceed a shadow.
func (b *purse) largest() float64 {
	if b.of != nil {
		return max(b.Capacity, b.of.Capacity)
	}
	return b.Capacity
}

// shared are the slots that no holder owns.
func (b *purse) shared(maxHolders int) float64 {
	return b.Capacity - b.own()*float64(b.holders(maxHolders))
}

func (b *Budget) holders(standard int) int {
	if b.MaxHolders > 0 {
		return b.MaxHolders
	}
	return max(standard, 1)
}

// room is as far as P may fill: B' − ΣH, less what may be out beside that. Safe shares that are saved are no more than half of B'
// while there are no more holders than expected, see Safe.
func (p *Pool) room(b *purse) float64 {
	safe := min(float64(p.silentOf(b))*b.safeBurst, b.Capacity/2)
	return b.Capacity - b.held - b.unknown - safe
}

func (p *Pool) silentOf(b *purse) int { return p.silentAll + b.silent }

// touch is to be called before anything of a budget changes, so that it is up to date; flush tells the scheduler of it.
func (p *Pool) touch(b *purse) {
	if b.touched {
		return
	}
	b.touched = true
	p.touched = append(p.touched, b)
	p.observe(b)
}

func (p *Pool) touchAll() {
	for _, b := range p.purses {
		p.touch(b)
	}
}

// flush brings what was given back into the levels, lowers them to their room, and sets how they go on.
func (p *Pool) flush() {
	// What is put off touches others.
	for i := 0; i < len(p.touched); i++ {
		b := p.touched[i]
		p.touched[i], b.touched = nil, false
		if b.Kind != budget.Continuous {
			p.reserve(b)
			continue
		}
		if rate := p.rateOf(b); rate != b.rate {
			b.rate = rate
			p.sched.Ensure(p.bucket(b), p.now)
		}
		p.cap(b)
	}
	p.touched = p.touched[:0]
}

func (p *Pool) cap(b *purse) {
	p.cover(b, min(p.level(b), p.room(b)))
	room, level := p.room(b)-b.kept, p.sched.Level(b.id, p.now)
	if b.lift > 0 && level < room {
		p.sched.Raise(b.id, min(level+b.lift, room), p.now)
	}
	b.lift = 0
	if level > room {
		p.sched.Lower(b.id, room, p.now)
	}
	p.sched.FillTo(b.id, room, p.now)
}

// level is P, with what was given back and what is kept for parked claims.
func (p *Pool) level(b *purse) float64 { return p.sched.Level(b.id, p.now) + b.lift + b.kept }

// rateOf is the rate that is left beside what the silent may take. Safe shares are no more than half of it.
func (p *Pool) rateOf(b *purse) float64 {
	rate := max(b.Rate-float64(p.silentOf(b))*b.safeRate, b.Rate/2)
	return max(0, rate-max(0, b.overSilent))
}

// bucket is a purse as the scheduler has it.
func (p *Pool) bucket(b *purse) budget.Bucket {
	out := budget.Bucket{
		Name: b.Name, Kind: b.Kind, Rate: b.rate, Capacity: b.Capacity, Window: b.Window, StartEmpty: true,
		Fed: b.External, Shares: b.shares,
	}
	if b.Kind == budget.Slots {
		out.Capacity = math.Max(0, p.slotsOf(b)-b.outside-b.reserved)
		out.Limit = b.Capacity
	}
	return out
}

// schedule is the scheduler's configuration.
func (p *Pool) schedule() budget.Config {
	cfg := budget.Config{Lanes: p.cfg.Lanes, Groups: p.lending(), Patient: true}
	for _, b := range p.purses {
		if b.Kind == budget.Continuous {
			b.rate = p.rateOf(b)
		}
		cfg.Buckets = append(cfg.Buckets, p.bucket(b))
	}
	return cfg
}

// reslot tells the scheduler how many slots there are to share.
func (p *Pool) reslot() {
	for _, b := range p.purses {
		if b.Kind == budget.Slots {
			p.sched.Ensure(p.bucket(b), p.now)
		}
	}
}

// index works out what follows from the configuration.
func (p *Pool) index() {
	p.byName, p.lanes = map[string]*purse{}, map[string]int{}
	for i, l := range p.cfg.Lanes {
		p.lanes[l.Name] = i
	}
	for _, b := range p.purses {
		p.byName[b.Name], b.charged = b, nil
		b.shares = sharesOf(b.Lanes)
	}
	for _, b := range p.purses {
		if b.of != nil {
			p.shadow(b)
		}
	}
	p.group()
}

// group numbers the groups, and adds up what is sure to them.
func (p *Pool) group() {
	p.groups, p.groupOf = nil, make([]int, len(p.cfg.Lanes))
	numbers := map[string]int{}
	for i, l := range p.cfg.Lanes {
		g, known := numbers[l.Group]
		if !known {
			g = len(p.groups)
			numbers[l.Group] = g
			p.groups = append(p.groups, p.groupNamed(l.Group))
		}
		p.groupOf[i] = g
	}
	for _, b := range p.purses {
		b.sure = make([]float64, len(p.groups))
		if len(p.cfg.Groups) == 0 {
			continue
		}
		for i, l := range p.cfg.Lanes {
			share := clean(l.Share)
			if b.shares != nil {
				share = (*b.shares)[l.Name]
			}
			b.sure[p.groupOf[i]] += share
		}
	}
}

// groupNamed is what the configuration says of a group.
func (p *Pool) groupNamed(name string) budget.Group {
	out := budget.Group{Name: name, Weight: 1}
	for _, g := range p.cfg.Groups {
		if g.Name != name {
			continue
		}
		out.Unlent = min(clean(g.Unlent), 1)
		if clean(g.Weight) > 0 {
			out.Weight = clean(g.Weight)
		}
	}
	return out
}

func sharesOf(lanes []LaneShare) *map[string]float64 {
	if lanes == nil {
		return nil
	}
	shares := make(map[string]float64, len(lanes))
	for _, l := range lanes {
		shares[l.Lane] = clean(l.Share)
	}
	return &shares
}

// shadow has a budget's lanes charge one of its shadows, which knows no shares but takes whoever comes.
func (p *Pool) shadow(b *purse) {
	if b.of.charged == nil {
		b.of.charged = map[int][]*purse{}
	}
	shares := map[string]float64{}
	for _, name := range b.lanes {
		if i, ok := p.lanes[name]; ok {
			b.of.charged[i] = append(b.of.charged[i], b)
			shares[name] = p.cfg.Lanes[i].Share
		}
	}
	sum := 0.0
	for _, s := range shares {
		sum += s
	}
	for name, s := range shares {
		// Within the shadow its lanes have what they have of each other.
		if sum > 0 {
			shares[name] = s / sum
		}
	}
	b.shares = &shares
}

func (p *Pool) bind() {
	for _, b := range p.purses {
		b.id, _ = p.sched.Bucket(b.Name)
	}
}

// elapsed is the time since the pool began.
func (p *Pool) elapsed() time.Duration { return p.now.Sub(p.start) }
