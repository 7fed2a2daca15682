// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

// HeaderDeadline is how a caller states how long it waits, as a duration from the call's arrival.
const HeaderDeadline = "Headgate-Deadline"

// stainlessTimeouts are how the official SDKs say when they will give up, in seconds.
var stainlessTimeouts = [...]string{"X-Stainless-Timeout", "X-Stainless-Read-Timeout"}

// patience is the shortest of what the policy, the caller and its SDK say. It bounds the time until a
// call is sent for the last time; a call that is under way is not cut by it.
func patience(h http.Header, fallback time.Duration) time.Duration {
	d := fallback
	if stated, ok := statedDeadline(h); ok {
		d = min(d, stated)
	}
	for _, name := range stainlessTimeouts {
		values := h[name]
		if len(values) == 0 {
			continue
		}
		seconds, err := strconv.ParseFloat(values[0], 64)
		if err == nil && seconds > 0 && seconds < math.MaxInt32 {
			d = min(d, time.Duration(seconds*float64(time.Second)))
		}
	}
	return d
}

// statedDeadline is what the caller says itself, 0 where that is in the past. What is no duration says nothing.
func statedDeadline(h http.Header) (time.Duration, bool) {
	values := h[HeaderDeadline]
	if len(values) == 0 {
		return 0, false
	}
	d, err := time.ParseDuration(values[0])
	return max(d, 0), err == nil
}

// malformedDeadline finds a caller that wanted to state its deadline and did not.
func malformedDeadline(h http.Header) bool {
	_, ok := statedDeadline(h)
	return !ok && len(h[HeaderDeadline]) > 0
}
