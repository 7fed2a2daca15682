// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"errors"
	"fmt"
	"time"
)

// Start is when every simulation begins: a whole minute of a whole day.
var Start = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// Bounds of a run. The bounds of a workload's fields do not bound their product: a day of many gateways, or of calls that
// are all made twenty times, would take hours.
const (
	// MaxPending bounds what may wait to happen.
	MaxPending = 1 << 20
	// MaxEvents bounds what happens in all, minutes of one core. An hour of 300,000 calls is some two millions.
	MaxEvents = 50_000_000
)

// ErrTooMuch is what ends a run that goes beyond its bounds.
var ErrTooMuch = errors.New("too much happens: offer less, for a shorter time, or through fewer gateways")

// Clock is simulated time. The zero value is not ready: see New.
type Clock struct {
	now     time.Time
	elapsed time.Duration
	seq     uint64
	pending []event
	full    bool
	// left is how many more events may happen.
	left int
}

// event is something that is to happen.
type event struct {
	at  time.Duration
	seq uint64
	do  func()
}

func (e *event) before(other *event) bool {
	return e.at < other.at || e.at == other.at && e.seq < other.seq
}

// New returns a clock at Start.
func New() *Clock { return &Clock{now: Start, left: MaxEvents} }

// Now is the time.
func (c *Clock) Now() time.Time { return c.now }

// Since is how long the simulation has run.
func (c *Clock) Since() time.Duration { return c.elapsed }

// After has do happen d from now; a wait below zero is none.
func (c *Clock) After(d time.Duration, do func()) { c.add(c.elapsed+d, do) }

// At has do happen at a time; one that is past is now.
func (c *Clock) At(at time.Time, do func()) { c.add(at.Sub(Start), do) }

func (c *Clock) add(at time.Duration, do func()) {
	if len(c.pending) >= MaxPending {
		c.full = true
		return
	}
	c.seq++
	c.pending = append(c.pending, event{at: max(at, c.elapsed), seq: c.seq, do: do})
	c.up(len(c.pending) - 1)
}

// Run lets everything happen that is due until end, and leaves the time there.
func (c *Clock) Run(end time.Time) error {
	until := end.Sub(Start)
	for len(c.pending) > 0 && c.pending[0].at <= until && !c.full {
		if c.left--; c.left < 0 {
			return fmt.Errorf("%w (more than %d events in all)", ErrTooMuch, MaxEvents)
		}
		e := c.pop()
		c.moveTo(e.at)
		e.do()
	}
	if c.full {
		return fmt.Errorf("%w (more than %d events are pending at once)", ErrTooMuch, MaxPending)
	}
	c.moveTo(max(until, c.elapsed))
	return nil
}

func (c *Clock) moveTo(elapsed time.Duration) {
	c.elapsed, c.now = elapsed, Start.Add(elapsed)
}

// arity of the heap: a wide one moves less.
const arity = 4

func (c *Clock) up(i int) {
	e := c.pending[i]
	for i > 0 {
		parent := (i - 1) / arity
		if !e.before(&c.pending[parent]) {
			break
		}
		c.pending[i] = c.pending[parent]
		i = parent
	}
	c.pending[i] = e
}

func (c *Clock) pop() event {
	first, last := c.pending[0], len(c.pending)-1
	e := c.pending[last]
	c.pending[last] = event{}
	c.pending = c.pending[:last]
	if last == 0 {
		return first
	}
	i := 0
	for {
		least := c.leastChild(i)
		if least < 0 || !c.pending[least].before(&e) {
			break
		}
		c.pending[i] = c.pending[least]
		i = least
	}
	c.pending[i] = e
	return first
}

// leastChild is the earliest of an event's children, -1 for one without any.
func (c *Clock) leastChild(i int) int {
	least := -1
	for child := i*arity + 1; child <= i*arity+arity && child < len(c.pending); child++ {
		if least < 0 || c.pending[child].before(&c.pending[least]) {
			least = child
		}
	}
	return least
}
