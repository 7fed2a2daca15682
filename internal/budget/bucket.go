// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"math"
	"time"
)

// capWindow is where a budget turns from a rate into a cap: a wait for it would outlast any caller.
const capWindow = time.Hour

// holdTime bounds what an idle lane keeps ready that states nothing, in seconds of its own rate: enough to answer
// its first calls at once, too little to keep much of the bucket from the others.
const holdTime = 10.0

// bucket is one budget's level and what each lane holds of it.
type bucket struct {
	Bucket
	id    BucketID
	level float64
	// ceiling bounds what refunds may lift the level to after an outside fact, see Lower.
	ceiling float64
	era     uint32
	// at is when level and credits were last brought up to date.
	at       int64
	accounts []account
	// places are where in accounts the lanes are, by index: -1 for a lane that has none; nil if all are where their index
	// says.
	places []int32
	// known are the lanes that places has.
	known []*lane
	// claimed is the sum of the positive credits, if it is summed.
	claimed float64
	summed  bool
	// filling is how far a refill fills it.
	filling float64
	// reserves are of the groups with accounts here that have something to pass on, or do not lend all.
	reserves []reserve
	// eps absorbs rounding: less than half a nanosecond of refill, so that nothing goes a nanosecond early.
	eps float64
	// refs counts live calls that refer to the bucket.
	refs int
	// pinned buckets come from the configuration, the others from Ensure.
	pinned bool
	gone   bool
	goneAt int64
	used   int64

	reserved, spent, offered float64

	// need is the largest cost above the capacity that a committed head collects, 0 if there is none.
	need float64
	// wanted is such a cost of a call that was told to come back; it counts until wantedUntil.
	wanted      float64
	wantedUntil int64
}

// top is how far the bucket fills: to its capacity, or to what a call above that collects.
func (b *bucket) top() float64 {
	top := max(b.Capacity, b.need)
	if b.wanted > top && b.at < b.wantedUntil {
		return b.wanted
	}
	return top
}

// account is one lane's part of a bucket.
type account struct {
	share    float64
	priority int32
	// holdTime is what the lane states about hold.
	holdTime time.Duration
	// unlent is the part of the share that the lane's group does not lend.
	unlent float64
	// credit is e. It is below zero only while the lane owes what it spent beyond its reservations.
	credit float64
	// hold is H, what the lane keeps while idle.
	hold float64
	// committed is the cost of the lane's committed heads.
	committed tally
	// queued is the cost of all the lane's waiting calls, heads included.
	queued tally
	// served accumulates what the lane took from its queue; it keeps stored predictions valid.
	served float64
	// inUse counts what the lane holds of a Slots bucket.
	inUse tally
	// recent is the largest cost of late, usual an average of the latest.
	recent peak
	usual  float64
	use    usage
}

// useTime is over how many seconds a lane's use counts as lately.
const useTime = 10.0

// usage is a decaying average of what a lane takes in a second.
type usage struct {
	perSecond float64
	at        int64
}

// rate decays by (1 + t/4T)^-4, which is close to exp(-t/T) for short times and cheap.
func (u *usage) rate(clock int64) float64 {
	if clock <= u.at || u.perSecond == 0 {
		return u.perSecond
	}
	y := 1 / (1 + seconds(clock-u.at)/(4*useTime))
	return u.perSecond * y * y * y * y
}

func (u *usage) add(amount float64, clock int64) {
	u.perSecond, u.at = max(0, u.rate(clock)+amount/useTime), clock
}

// peakTime is how long a lane's largest call is expected to come again: what comes more rarely may make accepted
// calls of lanes that borrow late.
const peakTime = int64(300e9)

// peak is the largest of the amounts of late.
type peak struct {
	amount float64
	at     int64
}

func (p *peak) now(clock int64) float64 {
	if clock-p.at > peakTime {
		return 0
	}
	return p.amount
}

func (p *peak) add(amount float64, clock int64) {
	if amount >= p.now(clock) {
		p.amount, p.at = amount, clock
	}
}

// tally is a sum that is exactly zero when nothing is in it, whatever rounding left.
type tally struct {
	sum float64
	n   int
}

func (t *tally) add(x float64) { t.sum, t.n = t.sum+x, t.n+1 }

func (t *tally) remove(x float64) {
	t.sum, t.n = max(0, t.sum-x), t.n-1
	if t.n == 0 {
		t.sum = 0
	}
}

// follow sets what the lane's configuration says.
func (a *account) follow(l Lane) {
	a.share, a.priority, a.holdTime = l.Share, l.Priority, l.Hold
}

// usualOf is the weight of the latest call in the average of costs.
const usualOf = 1.0 / 16

// seen takes in what a call of the lane costs.
func (a *account) seen(amount float64, clock int64) {
	a.recent.add(amount, clock)
	if a.usual == 0 {
		a.usual = amount
	}
	a.usual += usualOf * (amount - a.usual)
}

// ceiling is E: as far as the credit grows.
func (a *account) ceiling() float64 { return max(a.hold, a.committed.sum) }

func (a *account) positive() float64 { return max(a.credit, 0) }

func (b *bucket) caps() bool { return b.Kind == Continuous && b.Window >= capWindow }

// others is the credit of every lane but i: what a borrower must leave.
func (b *bucket) others(i int) float64 {
	i = b.pos(i)
	if len(b.accounts) > manyLanes {
		return max(0, b.credits()-b.accounts[i].positive())
	}
	sum := 0.0
	for j := range b.accounts {
		if j != i {
			sum += b.accounts[j].positive()
		}
	}
	return sum
}

// othersHold is what every lane but i keeps while idle.
func (b *bucket) othersHold(i int) float64 {
	i = b.pos(i)
	sum := 0.0
	for j := range b.accounts {
		if j != i {
			sum += b.accounts[j].hold
		}
	}
	return sum
}

// sanitize makes the numbers of a configuration usable: never NaN, never negative, never infinite.
func (b Bucket) sanitize() Bucket {
	b.Formerly = ""
	b.Rate, b.Capacity = finite(b.Rate), finite(b.Capacity)
	b.Limit = max(finite(b.Limit), b.Capacity)
	if b.Kind == Slots {
		b.Rate, b.Capacity = 0, math.Floor(b.Capacity)
	}
	return b
}

// largestNumber keeps sums far from infinity.
const largestNumber = 1e18

func finite(x float64) float64 {
	if math.IsNaN(x) || x < 0 {
		return 0
	}
	return min(x, largestNumber)
}

// limit sets rate and capacity and what follows from them. It touches no level.
func (b *bucket) limit(spec Bucket) {
	b.Bucket = spec
	b.eps = spec.Rate*0.4e-9 + spec.Capacity*1e-12
	for i := range b.accounts {
		b.setHold(&b.accounts[i])
	}
}

func (b *bucket) setHold(a *account) {
	switch {
	case b.Kind == Slots:
		a.hold = 0
		a.reslot(b.Capacity)
	case b.Unheld:
		a.hold = 0
	case b.caps():
		// A cap is not waited for, so the whole share of what is left is kept, whatever the lane states.
		a.hold = a.share * b.Capacity
	case a.holdTime < 0:
		a.hold = 0
	case a.holdTime > 0:
		a.hold = min(a.share*b.Capacity, a.holdTime.Seconds()*a.share*b.Rate)
	default:
		a.hold = min(a.share*b.Capacity/2, holdTime*a.share*b.Rate)
	}
	if b.Kind == Continuous {
		a.hold = max(a.hold, a.unlent*a.share*b.Capacity)
	}
}

// reslot sets the credit on a Slots bucket: the lane's whole slots less those in use. Fractions of a slot are
// not kept, else two lanes with half a slot each would block each other.
func (a *account) reslot(slots float64) {
	a.credit = max(0, math.Floor(a.share*slots+1e-9)-a.inUse.sum)
}
