// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
	"github.com/headgate-dev/headgate/test/soak/referee"
)

// settling is how long after an edit both amounts count: it takes two seconds at most to be in force, and a
// busy machine is late.
const settling = edited + 2*time.Second

// costs are what arrivals cost a budget: a refused call costs a request and no tokens.
func costs(arrivals []fakeprovider.Arrival, tokens func(*fakeprovider.Arrival) int64) []referee.Spending {
	var out []referee.Spending
	for i := range arrivals {
		a := &arrivals[i]
		cost := int64(1)
		if tokens != nil {
			if cost = tokens(a); refunded(a) {
				cost = 0
			}
		}
		if cost > 0 {
			out = append(out, referee.Spending{At: time.Unix(0, a.TimeUnixNano), Cost: float64(cost)})
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
