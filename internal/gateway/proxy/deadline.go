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
	if v := h.Get(HeaderDeadline); v != "" {
		if stated, err := time.ParseDuration(v); err == nil {
			d = min(d, max(stated, 0))
		}
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
