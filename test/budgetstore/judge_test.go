// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budgetstore

import (
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// verdict is of the arrivals at the provider.
type verdict struct {
	calls, throttled int
	// excess is the most, over all intervals, of arrivals − R·length − burst; 0 if none exceeds.
	excess float64
	// certain is the part of it that no delay on the way explains.
	certain float64
	// utilisation is what was admitted between two times of what there was to admit: start + refill − end.
	utilisation float64
	// perSecond is what was admitted between them.
	perSecond float64
}

// bucket is the provider's, as it would be if it admitted everything.
type bucket struct {
	rate, burst  float64
	above, level float64
	at           time.Time
}

func (b *bucket) to(t time.Time) {
	if !b.at.IsZero() && t.After(b.at) {
		dt := t.Sub(b.at).Seconds()
		b.above, b.level = max(0, b.above-b.rate*dt), min(b.burst, b.level+b.rate*dt)
	}
	b.at = t
}

// judge measures arrivals against a bucket that was full before the first. Refused ones are arrivals too.
func judge(arrivals []fakeprovider.Arrival, rate, burst float64, from, to time.Time) verdict {
	var v verdict
	b := bucket{rate: rate, burst: burst, level: burst}
	start, end, used := burst, burst, 0.0
	begun, over := false, false
	for i := range arrivals {
		a := &arrivals[i]
		when, cost := time.Unix(0, a.TimeUnixNano), float64(a.InputTokens)
		if !begun && !when.Before(from) {
			b.to(from)
			start, begun = b.level, true
		}
		if !over && !when.Before(to) {
			b.to(to)
			end, over = b.level, true
		}
		b.to(when)
		b.above += cost
		v.calls++
		v.excess = max(v.excess, b.above-burst)
		if a.Verdict == "Throttled" {
			v.throttled++
			continue
		}
		b.level -= cost
		if begun && !over {
			used += cost
		}
	}
	if !over {
		b.to(to)
		end = b.level
	}
	v.perSecond = used / to.Sub(from).Seconds()
	if had := start + rate*to.Sub(from).Seconds() - end; had > 0 {
		v.utilisation = used / had
	}
	return v
}
