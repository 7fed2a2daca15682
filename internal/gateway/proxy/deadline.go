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

// sdkTimeouts are how the official SDKs say when they will give up, in seconds: OpenAI's and Anthropic's, and Google's.
var sdkTimeouts = [...]string{"X-Stainless-Timeout", "X-Stainless-Read-Timeout", "X-Server-Timeout"}

const (
	headerAttempt = "Amz-Sdk-Request"
	awsTime       = "20060102T150405Z"
)

// patience is the shortest of what the policy, the caller and its SDK say. It bounds the time until a
// call is sent for the last time; a call that is under way is not cut by it.
func patience(h http.Header, fallback time.Duration, now time.Time) time.Duration {
	d := fallback
	if stated, ok := statedDeadline(h); ok {
		d = min(d, stated)
	}
	for _, name := range sdkTimeouts {
		values := h[name]
		if len(values) == 0 {
			continue
		}
		seconds, err := strconv.ParseFloat(values[0], 64)
		if err == nil && seconds > 0 && seconds < math.MaxInt32 {
			d = min(d, time.Duration(seconds*float64(time.Second)))
		}
	}
	if left, ok := awsPatience(h, now); ok {
		d = min(d, left)
	}
	return d
}

// awsPatience is what AWS' SDKs say beside the number of an attempt: when it is over, by the provider's clock as far as
// they know it. One that is over already tells of two clocks that differ, and of no patience.
func awsPatience(h http.Header, now time.Time) (time.Duration, bool) {
	values := h[headerAttempt]
	if len(values) == 0 {
		return 0, false
	}
	at, err := time.Parse(awsTime, attribute(values[0], "ttl="))
	return at.Sub(now), err == nil && at.After(now)
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
