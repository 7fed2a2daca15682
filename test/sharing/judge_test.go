// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// verdict is of the arrivals at the provider.
type verdict struct {
	calls, throttled int
	units            float64
	// excess is max over all intervals of arrivals − R·length − burst, 0 if none exceeds.
	excess float64
	// certain is the part of it that no delay on the way explains.
	certain float64
	// utilisation is of the refill from a time on.
	utilisation float64
}

// judge measures arrivals against a bucket of rate R and burst that was full before the first, and utilisation between two
// times: what was admitted of what there was to admit, start + refill − end. Arrivals are those that the provider refused
// too: a call that is refused and comes again is two arrivals.
func judge(arrivals []fakeprovider.Arrival, rate, burst float64, from, to time.Time) verdict {
	var f verdict
	above, level, at := 0.0, burst, time.Time{}
	start, end, used := burst, burst, 0.0
	past := func(t time.Time) {
		length := 0.0
		if !at.IsZero() {
			length = t.Sub(at).Seconds()
		}
		at = t
		above, level = max(0, above-rate*length), min(burst, level+rate*length)
	}
	for i := range arrivals {
		a := &arrivals[i]
		when, cost := time.Unix(0, a.TimeUnixNano), float64(a.InputTokens)
		for _, edge := range []struct {
			at time.Time
			to *float64
		}{{from, &start}, {to, &end}} {
			if at.Before(edge.at) && !when.Before(edge.at) {
				past(edge.at)
				*edge.to = level
			}
		}
		past(when)
		f.calls++
		f.units += cost
		// above is the largest of arrivals − R·length over the intervals that end here.
		above += cost
		f.excess = max(f.excess, above-burst)
		switch a.Verdict {
		case "Throttled":
			f.throttled++
		case "Admitted":
			level -= cost
			if !when.Before(from) && when.Before(to) {
				used += cost
			}
		}
	}
	if at.Before(to) {
		past(to)
		end = level
	}
	if had := start + rate*to.Sub(from).Seconds() - end; had > 0 {
		f.utilisation = used / had
	}
	return f
}
