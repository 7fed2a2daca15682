// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package excess

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// header carries when a call was made; the provider keeps it with the arrival.
const header = "X-Request-Id"

// Stamp notes in a call's headers that it is made now.
func Stamp(h http.Header, now time.Time) { h.Set(header, strconv.FormatInt(now.UnixNano(), 10)) }

// sent is a call: made at from, arrived at to, in nanoseconds.
type sent struct {
	from, to int64
	units    float64
}

// Certain returns the most, over all intervals, of input tokens that were certainly sent in them above rate a second and
// burst; 0 if none exceeds. A call without a stamp was made whenever.
func Certain(arrivals []fakeprovider.Arrival, rate, burst float64) float64 {
	calls := make([]sent, 0, len(arrivals))
	for i := range arrivals {
		a := &arrivals[i]
		made, err := strconv.ParseInt(a.Headers["x-request-id"], 10, 64)
		if err != nil {
			continue
		}
		calls = append(calls, sent{made, a.TimeUnixNano, float64(a.InputTokens)})
	}
	slices.SortFunc(calls, func(a, b sent) int { return int(max(-1, min(1, a.to-b.to))) })
	most := 0.0
	for _, first := range calls {
		total := 0.0
		for _, c := range calls {
			if c.from < first.from {
				continue
			}
			total += c.units
			most = max(most, total-burst-rate*time.Duration(c.to-first.from).Seconds())
		}
	}
	return most
}
