// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import "time"

// Breaker keeps calls from a model that is overloaded: after too many overloads it opens, then lets one call at a time
// through as a probe, and closes at the first that is served. It is not safe for concurrent use: its owner locks.
type Breaker struct {
	// Rand draws from [0, 1); without it draws are in the middle.
	Rand func() float64

	results results
	phase   phase
	// strikes is how often in a row it opened.
	strikes  int
	until    time.Time // of an open one
	probeBy  time.Time // of a half-open one: when its probe counts as lost; zero is "none is out"
	closedAt time.Time
}

type phase uint8

const (
	closed phase = iota
	open
	halfOpen
)

// Allow says whether a call may be sent now, and whether it is a probe; Record must be told how a probe ended.
func (b *Breaker) Allow(now time.Time) (ok, probe bool) {
	switch {
	case b.phase == closed:
		return true, false
	case b.phase == open && now.Before(b.until), b.phase == halfOpen && now.Before(b.probeBy):
		return false, false
	}
	b.phase, b.probeBy = halfOpen, now.Add(probeTime)
	return true, true
}

// Wait is how long a call that was not allowed waits before it asks again. Nobody knows when a probe ends, so those
// who wait for one ask at different times.
func (b *Breaker) Wait(now time.Time) time.Duration {
	switch b.phase {
	case open:
		if wait := b.until.Sub(now); wait > 0 {
			return wait
		}
		return 0
	case halfOpen:
		return Backoff{Base: breakerBase, Cap: breakerBase}.draw(1, b.draw())
	default:
		return 0
	}
}

// Open says that calls are kept back.
func (b *Breaker) Open() bool { return b.phase != closed }

// Record takes in how a send ended; the class "" is of one that nobody knows the end of. Of a breaker that is not
// closed only probes tell anything: the others were sent before it opened.
func (b *Breaker) Record(class Class, probe bool, now time.Time) {
	switch {
	case b.phase == closed:
		b.count(class, now)
	case b.phase == halfOpen && probe:
		b.probed(class, now)
	}
}

func (b *Breaker) probed(class Class, now time.Time) {
	switch class {
	case "":
		b.probeBy = time.Time{}
	case Overload:
		b.strikes++
		b.trip(now)
	case Transient:
		// It may be down for another reason; that is no overload, and no answer either.
		b.trip(now)
	default:
		b.phase, b.closedAt, b.results = closed, now, results{}
	}
}

// count notes a result while closed. What is neither served nor overloaded says nothing.
func (b *Breaker) count(class Class, now time.Time) {
	if class == "" || class == Transient {
		return
	}
	all, overloads := b.results.add(class == Overload, now)
	if class != Overload || all < breakerLeast || overloads*100 < all*breakerPercent {
		return
	}
	if now.Sub(b.closedAt) > strikesKept {
		b.strikes = 0
	}
	b.strikes++
	b.trip(now)
}

func (b *Breaker) trip(now time.Time) {
	b.phase, b.probeBy = open, time.Time{}
	b.until = now.Add(Backoff{Base: breakerBase, Cap: breakerCap}.draw(b.strikes, b.draw()))
}

func (b *Breaker) draw() float64 {
	if b.Rand == nil {
		return 0.5
	}
	if u := b.Rand(); u >= 0 && u <= 1 {
		return u
	}
	return 0.5
}

// results count sends by second over the breaker's window.
type results struct {
	start  time.Time
	second int64
	slots  [breakerSeconds]struct{ all, overloads int64 }
}

// add counts one, and returns what the window holds. A clock that goes back stays in the latest second.
func (r *results) add(overload bool, now time.Time) (all, overloads int64) {
	if r.start.IsZero() {
		r.start = now
	}
	second := max(int64(now.Sub(r.start)/time.Second), r.second)
	for i := range min(second-r.second, breakerSeconds) {
		r.slots[(second-i)%breakerSeconds] = struct{ all, overloads int64 }{}
	}
	r.second = second
	s := &r.slots[second%breakerSeconds]
	s.all++
	if overload {
		s.overloads++
	}
	for _, s := range r.slots {
		all, overloads = all+s.all, overloads+s.overloads
	}
	return all, overloads
}
