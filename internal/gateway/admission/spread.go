// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"math"
	"time"
)

// spread is how far calls turned out to cost other than was reserved, as a part of it.
type spread struct {
	bias, variance float64
	samples        int
}

// add takes in a call that was charged actual where reserved was held. One that cost many times as much says no more
// than one that cost twice as much: a single one must not shut a bucket.
func (s *spread) add(actual, reserved float64) {
	if !(reserved > 0) || math.IsNaN(actual) {
		return
	}
	e := clamp(actual/reserved-1, -1, 1)
	a := max(errorWeight, 1/float64(s.samples+1))
	s.samples++
	d := e - s.bias
	s.bias += a * d
	s.variance += a * (d*(e-s.bias) - s.variance)
}

// of is by how much a volume of calls may cost more than was reserved: three deviations, for independent errors, and
// the common one.
func (s *spread) of(v volume) float64 {
	return sigmas*math.Sqrt(max(0, s.variance*v.squares)) + max(0, s.bias)*v.cost
}

// jitter is how much longer than the quickest send another may take to arrive: the 99.9th percentile of what answers
// took, less the least of it.
type jitter struct {
	least, most float64 // in seconds
	samples     int
}

func (j *jitter) add(took time.Duration) {
	s := took.Seconds()
	if s < 0 {
		return
	}
	if j.samples == 0 {
		j.least, j.most = s, s
	}
	j.samples++
	// Both are forgotten slowly, for routes change.
	j.least = min(s, j.least+jitterDecay*(j.most-j.least))
	j.most = max(s, j.most-jitterDecay*(j.most-j.least))
}

// seconds is the jitter that is reckoned with.
func (j *jitter) seconds() float64 {
	if j.samples < guardSamples {
		return jitterStart.Seconds()
	}
	return clamp(j.most-j.least, jitterLeast.Seconds(), jitterMost.Seconds())
}

// guard is how far a mirror stays inside the provider's bucket.
type guard struct {
	samples int
	// busiest is the largest volume in flight of late.
	busiest volume
}

func (g *guard) add(inFlight volume) {
	g.samples++
	g.busiest.cost = max(inFlight.cost, g.busiest.cost*(1-jitterDecay))
	g.busiest.squares = max(inFlight.squares, g.busiest.squares*(1-jitterDecay))
}

// guarded is a mirror's guard: R·jitter + 3σ of what is in flight, between the least and what it started with.
func (m *mirror) guarded() float64 {
	if m.guard.samples < guardSamples {
		return guardStart * m.limit
	}
	return clamp(m.rate*m.jitter.seconds()+m.doubt(volume{}), guardLeast*m.limit, guardStart*m.limit)
}

// doubt is by how much what is in flight, and the next call with it, may cost more than is reserved: that of a volume,
// or of what is in flight at busy times. However wrong estimates are, it is no more than a guard.
func (m *mirror) doubt(v volume) float64 {
	return min(max(m.spread.of(v), m.spread.of(m.guard.busiest)), guardStart*m.limit)
}
