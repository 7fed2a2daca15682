// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package figures

import "time"

// The rings' slots: one more than the window needs, since the newest is only partly filled.
const (
	recentSlot  = 10 * time.Second
	recentSlots = int(Window/recentSlot) + 1
	hourSlot    = 5 * time.Minute
	hourSlots   = int(time.Hour/hourSlot) + 1
	daySlot     = time.Hour
	daySlots    = int(24*time.Hour/daySlot) + 1
)

// ring sums amounts per slot of time. A clock that goes back adds to the newest slot. Slots are made at the
// first amount: most counts of most policies stay zero.
type ring struct {
	slot  time.Duration
	size  int64
	head  int64 // number of the newest slot since 1970
	slots []float64
}

func newRing(slot time.Duration, slots int) ring {
	return ring{slot: slot, size: int64(slots)}
}

func newRecent() ring { return newRing(recentSlot, recentSlots) }

// turn brings the ring to now.
func (r *ring) turn(now time.Time) {
	to := now.UnixNano() / int64(r.slot)
	if to-r.head >= r.size {
		clear(r.slots)
		r.head = to
	}
	for r.head < to {
		r.head++
		if r.slots != nil {
			r.slots[r.head%r.size] = 0
		}
	}
}

// newest brings the ring to now and returns the newest slot.
func (r *ring) newest(now time.Time) *float64 {
	r.turn(now)
	if r.slots == nil {
		r.slots = make([]float64, r.size)
	}
	return &r.slots[r.head%r.size]
}

func (r *ring) add(now time.Time, amount float64) { *r.newest(now) += amount }

// raise keeps the largest value of the slot.
func (r *ring) raise(now time.Time, value float64) {
	s := r.newest(now)
	*s = max(*s, value)
}

func (r *ring) sum(now time.Time) float64 {
	r.turn(now)
	var sum float64
	for _, s := range r.slots {
		sum += s
	}
	return sum
}

// last is the amount of the time before now, in whole slots; the newest is only partly filled, so that one more of them
// counts by the part that it has to give.
func (r *ring) last(now time.Time, over time.Duration) float64 {
	r.turn(now)
	if r.slots == nil {
		return 0
	}
	n := min(int64(over/r.slot), r.size-1)
	filled := float64(now.UnixNano()%int64(r.slot)) / float64(r.slot)
	sum := (1 - filled) * r.slots[(r.head-n)%r.size]
	for i := r.head - n + 1; i <= r.head; i++ {
		sum += r.slots[i%r.size]
	}
	return sum
}

func (r *ring) max(now time.Time) float64 {
	r.turn(now)
	var top float64
	for _, s := range r.slots {
		top = max(top, s)
	}
	return top
}

// busiest is the largest sum of any n slots that follow each other.
func (r *ring) busiest(now time.Time, n int64) float64 {
	r.turn(now)
	if r.slots == nil {
		return 0
	}
	var top, sum float64
	for i := r.head - r.size + 1; i <= r.head; i++ {
		sum += r.slots[i%r.size]
		if old := i - n; old > r.head-r.size {
			sum -= r.slots[old%r.size]
		}
		top = max(top, sum)
	}
	return top
}

// covers is the time from the oldest slot's beginning to now.
func (r *ring) covers(now time.Time) time.Duration {
	r.turn(now)
	return now.Sub(time.Unix(0, (r.head-r.size+1)*int64(r.slot)))
}

// counter is a total since the store's start, and its last minutes.
type counter struct {
	total  float64
	recent ring
}

func newCounter() counter { return counter{recent: newRecent()} }

func (c *counter) add(now time.Time, amount float64) {
	if amount == 0 {
		return
	}
	c.total += amount
	c.recent.add(now, amount)
}

func (c *counter) count(now time.Time) int64 { return int64(c.recent.sum(now)) }

// flow is a counter that also knows its last hour and day.
type flow struct {
	counter
	hour, day ring
}

func newFlow() flow {
	return flow{newCounter(), newRing(hourSlot, hourSlots), newRing(daySlot, daySlots)}
}

func (f *flow) add(now time.Time, amount float64) {
	if amount == 0 {
		return
	}
	f.counter.add(now, amount)
	f.hour.add(now, amount)
	f.day.add(now, amount)
}

// read returns the flow as seen since a time, and over the span that the last minutes' traffic covers.
func (f *flow) read(since, now time.Time, span time.Duration) Flow {
	seen := max(now.Sub(since), 0)
	if span == Window { // the oldest slot reaches beyond the window
		span = max(min(seen, f.recent.covers(now)), Window)
	}
	return Flow{
		recent: f.recent.sum(now), recentOver: span,
		busiestSlot: f.recent.busiest(now, 1), busiestMinute: f.recent.busiest(now, int64(time.Minute/recentSlot)),
		hour: f.hour.sum(now), hourOver: min(seen, f.hour.covers(now)),
		day: f.day.sum(now), dayOver: min(seen, f.day.covers(now)),
	}
}
