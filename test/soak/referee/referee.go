// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package referee holds what arrived at a provider to what a policy and its edits allow: for every interval, arrivals
// at most burst + rate · length. It is pure and knows nothing of Headgate's own code, so that it can judge it; it
// imports the standard library only.
package referee

import (
	"math"
	"slices"
	"time"
)

// Edit is a change of the amounts, in percent of an Account's, from a time on.
type Edit struct {
	At      time.Time
	Percent int
}

// Spending is one arrival's cost.
type Spending struct {
	At   time.Time
	Cost float64
}

// Account is what the arrivals of one key at one provider are held to.
type Account struct {
	PerMinute, Burst float64 // at a hundred percent
	Edits            []Edit
	// Settling is how long after an edit both amounts count.
	Settling time.Duration
	// Lives are the moments from which on the bucket may be full again.
	Lives []time.Time
}

// Excess is the largest value, over all intervals within a life, of arrivals - ∫rate - burst; below zero it is
// how near they came. It is found with a virtual bucket that is full when a life begins: what it is short of is
// the excess. For some time after an edit either amount may be in force, and the larger counts.
func (a *Account) Excess(arrivals []Spending) (most float64, at time.Time) {
	v := &virtual{Account: a}
	most = math.Inf(-1)
	for _, s := range arrivals {
		v.advance(s.At)
		v.level -= s.Cost
		if -v.level > most {
			most, at = -v.level, s.At
		}
	}
	return most, at
}

// virtual is the bucket.
type virtual struct {
	*Account
	at      time.Time
	level   float64
	started bool
}

// advance refills up to now, from event to event: an edit, its end, or a new life.
func (v *virtual) advance(now time.Time) {
	if !v.started {
		v.started, v.at, v.level = true, now, v.Burst*v.factor(now)
	}
	for _, t := range v.events(now) {
		seconds := t.Sub(v.at).Seconds()
		v.level = min(v.Burst*v.factor(v.at), v.level+v.PerMinute/60*v.factor(v.at)*seconds)
		v.at = t
		// What was held above a smaller burst is gone.
		v.level = min(v.level, v.Burst*v.factor(t))
		if slices.ContainsFunc(v.Lives, t.Equal) {
			v.level = v.Burst * v.factor(t)
		}
	}
}

// events are the times up to now at which something changes, and now.
func (v *virtual) events(now time.Time) []time.Time {
	var out []time.Time
	add := func(t time.Time) {
		if t.After(v.at) && t.Before(now) {
			out = append(out, t)
		}
	}
	for _, e := range v.Edits {
		add(e.At)
		add(e.At.Add(v.Settling))
	}
	for _, t := range v.Lives {
		add(t)
	}
	slices.SortFunc(out, time.Time.Compare)
	return append(out, now)
}

// factor is the part of the amounts that may be in force at t, the largest where several may.
func (a *Account) factor(t time.Time) float64 {
	percent := 0
	for i, e := range a.Edits {
		if e.At.After(t) {
			break
		}
		if i+1 < len(a.Edits) && !a.Edits[i+1].At.Add(a.Settling).After(t) {
			continue // the next one has been in force for long
		}
		percent = max(percent, e.Percent)
	}
	return float64(percent) / 100
}
