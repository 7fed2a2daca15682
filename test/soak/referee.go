// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// spending is one arrival's cost.
type spending struct {
	at   time.Time
	cost float64
}

// account is what the arrivals of one key at one provider are held to.
type account struct {
	perMinute, burst float64 // at a hundred percent
	edits            []edit
	lives            []time.Time
}

// excess is the largest value, over all intervals within a life, of arrivals - ∫rate - burst; below zero it is
// how near they came. It is found with a virtual bucket that is full when a life begins: what it is short of is
// the excess. For some time after an edit either amount may be in force, and the larger counts.
func (a *account) excess(arrivals []spending) (most float64, at time.Time) {
	v := &virtual{account: a}
	most = math.Inf(-1)
	for _, s := range arrivals {
		v.advance(s.at)
		v.level -= s.cost
		if -v.level > most {
			most, at = -v.level, s.at
		}
	}
	return most, at
}

// virtual is the bucket.
type virtual struct {
	*account
	at      time.Time
	level   float64
	started bool
}

// advance refills up to now, from event to event: an edit, its end, or a new life.
func (v *virtual) advance(now time.Time) {
	if !v.started {
		v.started, v.at, v.level = true, now, v.burst*v.factor(now)
	}
	for _, t := range v.events(now) {
		seconds := t.Sub(v.at).Seconds()
		v.level = min(v.burst*v.factor(v.at), v.level+v.perMinute/60*v.factor(v.at)*seconds)
		v.at = t
		// What was held above a smaller burst is gone.
		v.level = min(v.level, v.burst*v.factor(t))
		if slices.ContainsFunc(v.lives, t.Equal) {
			v.level = v.burst * v.factor(t)
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
	for _, e := range v.edits {
		add(e.at)
		add(e.at.Add(settling))
	}
	for _, t := range v.lives {
		add(t)
	}
	slices.SortFunc(out, time.Time.Compare)
	return append(out, now)
}

// settling is how long after an edit both amounts count: it takes two seconds at most to be in force, and a
// busy machine is late.
const settling = edited + 2*time.Second

// factor is the part of the amounts that may be in force at t, the largest where several may.
func (a *account) factor(t time.Time) float64 {
	percent := 0
	for i, e := range a.edits {
		if e.at.After(t) {
			break
		}
		if i+1 < len(a.edits) && !a.edits[i+1].at.Add(settling).After(t) {
			continue // the next one has been in force for long
		}
		percent = max(percent, e.percent)
	}
	return float64(percent) / 100
}

// costs are what arrivals cost a budget: a refused call costs a request and no tokens.
func costs(arrivals []fakeprovider.Arrival, tokens func(*fakeprovider.Arrival) int64) []spending {
	var out []spending
	for i := range arrivals {
		a := &arrivals[i]
		cost := int64(1)
		if tokens != nil {
			if cost = tokens(a); refunded(a) {
				cost = 0
			}
		}
		if cost > 0 {
			out = append(out, spending{time.Unix(0, a.TimeUnixNano), float64(cost)})
		}
	}
	return out
}

func refunded(a *fakeprovider.Arrival) bool {
	return a.Status >= 400 && a.Status != 500 && a.Status < 600 || a.Fault == fakeprovider.FaultStreamOverload
}

// told is the wait that an answer stated.
func told(a *fakeprovider.Arrival) (time.Duration, bool) {
	if ms, err := strconv.ParseInt(a.RetryAfterMs, 10, 64); err == nil {
		return time.Duration(ms) * time.Millisecond, true
	}
	seconds, err := strconv.ParseInt(a.RetryAfter, 10, 64)
	return time.Duration(seconds) * time.Second, err == nil
}

// waits are calls that came again after they were told to wait.
type waits struct {
	guided int
	// least is the smallest margin between the time a call was told and that at which it came.
	least time.Duration
	early []string
}

// checkWaits finds calls that came earlier than they were told. What an SDK sends again on its own, since the
// gateway that knew of the wait was killed, is not the gateway's.
func checkWaits(arrivals []fakeprovider.Arrival, killedWithin func(from, to time.Time) bool) waits {
	out := waits{least: time.Hour}
	last := map[string]*fakeprovider.Arrival{}
	for i := range arrivals {
		a := &arrivals[i]
		id := a.Headers[lowerID]
		before := last[id]
		last[id] = a
		if id == "" || before == nil || before.AnsweredUnixNano == 0 || before.Status < http.StatusBadRequest {
			continue
		}
		wait, ok := told(before)
		if !ok {
			continue
		}
		answered, came := time.Unix(0, before.AnsweredUnixNano), time.Unix(0, a.TimeUnixNano)
		if a.Headers[lowerCount] != before.Headers[lowerCount] && killedWithin(answered, came) {
			continue
		}
		out.guided++
		margin := came.Sub(answered) - wait
		out.least = min(out.least, margin)
		if margin < 0 {
			out.early = append(out.early, fmt.Sprintf("%s came %s after it was told to wait %s (%s)", id, came.Sub(answered), wait, before.Fault))
		}
	}
	return out
}

// Names in the provider's log.
const (
	lowerID    = "x-request-id"
	lowerCount = "x-stainless-retry-count"
)

// probeAfter is how soon an exhausted quota may be asked again.
const probeAfter = time.Minute

// checkQuota finds calls to an exhausted quota before its probe was due, within a life of the gateway.
func checkQuota(arrivals []fakeprovider.Arrival, killedWithin func(from, to time.Time) bool) (exhausted int, wrong []string) {
	var since *fakeprovider.Arrival
	for i := range arrivals {
		a := &arrivals[i]
		if a.Model != quotaModel {
			continue
		}
		if since != nil {
			from, to := time.Unix(0, since.TimeUnixNano), time.Unix(0, a.TimeUnixNano)
			if gap := to.Sub(from); gap < probeAfter && !killedWithin(from, to) {
				wrong = append(wrong, fmt.Sprintf("%s asked an exhausted quota again after %s", a.Headers[lowerID], gap))
			}
			since = nil
		}
		if a.Fault == fakeprovider.FaultQuota {
			exhausted++
			since = a
		}
	}
	return exhausted, wrong
}
