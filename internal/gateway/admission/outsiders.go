// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"slices"
	"time"
)

// outsiders estimates how fast others spend on the account: what reports show to be gone, beyond our own calls and
// less the refill between. Where the bucket may have been full in between, refill was lost and nothing is known.
type outsiders struct {
	began, last sighting
	// windows are the latest three, of which the median counts: a large call that is in flight at a window's end is too
	// much in one window and too little in the next.
	windows [3]float64
	n       int
	rate    float64
	at      time.Time
}

// sighting is what was left at a time, and what we had spent.
type sighting struct {
	at              time.Time
	remaining, ours float64
}

// see takes in a report of a call sent at s.at; rate and limit are the provider's.
func (o *outsiders) see(s sighting, rate, limit, roundedTo float64) {
	switch gap := s.at.Sub(o.last.at); {
	case o.last.at.IsZero() || o.last.remaining+roundedTo+rate*gap.Seconds() > limit:
		o.began, o.last = s, s
		return
	case gap < 0:
		return // an answer to an earlier call: what it knew is known
	}
	o.last = s
	if s.at.Sub(o.began.at) >= outsidersWindow {
		o.close(rate)
	}
}

// close ends a window.
func (o *outsiders) close(rate float64) {
	span := o.last.at.Sub(o.began.at).Seconds()
	used := o.began.remaining - o.last.remaining + rate*span - (o.last.ours - o.began.ours)
	o.windows[o.n%len(o.windows)] = clamp(used/span, -rate, rate)
	o.n++
	o.began, o.at = o.last, o.last.at
	sorted := o.windows
	slices.Sort(sorted[:])
	if o.n < len(o.windows) {
		return
	}
	o.rate += outsidersWeight * (sorted[len(sorted)/2] - o.rate)
}

// flush ends a window early where it is long enough to tell something; a refusal asks for it.
func (o *outsiders) flush(rate float64) {
	if o.last.at.Sub(o.began.at) >= outsidersFlush {
		o.close(rate)
	}
}

// spend is what others are taken to spend in a second.
func (o *outsiders) spend(rate float64, now time.Time) float64 {
	if o.rate < outsidersNoise*rate || now.Sub(o.at) > outsidersForget {
		return 0
	}
	return min(o.rate, outsidersMost*rate)
}
