// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"errors"
	"time"
)

// Start is when every simulation begins: a whole minute of a whole day.
var Start = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// MaxPending bounds what may wait to happen: it is far more than a workload within its own bounds makes.
const MaxPending = 1 << 20

// ErrTooMuch ends a run that has more than MaxPending events pending.
var ErrTooMuch = errors.New("more than 1,048,576 events are pending at once: offer less, or for a shorter time")

// Clock is simulated time. The zero value is not ready: see New.
type Clock struct {
	now     time.Time
	elapsed time.Duration
	seq     uint64
	pending []event
	full    bool
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
func New() *Clock { return &Clock{now: Start} }

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
		e := c.pop()
		c.moveTo(e.at)
		e.do()
	}
	if c.full {
		return ErrTooMuch
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
