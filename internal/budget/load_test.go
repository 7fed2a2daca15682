// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"math/rand"
	"strconv"
	"testing"
	"time"
)

// source is one lane's random load: Poisson arrivals of calls around a size, with deadlines around a time.
type source struct {
	size, every, deadline float64
	next                  time.Duration
	accepted, refused     int
}

func newSources(r *rand.Rand, lanes int) []*source {
	factor := 0.7 + r.Float64()*1.5
	out := make([]*source, lanes)
	for i := range out {
		size := []float64{200, 2000, 8000, 40_000}[r.Intn(4)]
		load := factor * tokenRate / float64(lanes) * (0.3 + r.Float64()*1.4)
		collect := size / (tokenRate / float64(lanes))
		out[i] = &source{size: size, every: size / load, deadline: 2 + r.Float64()*50 + collect*1.5}
	}
	return out
}

// What is accepted is served: over random mixes of loads, sizes and deadlines, none is parked to expire, few are
// told later that others came between, and an account that is asked for more than it has is used up.
func TestMixedLoadsAreServedOrDeclinedAtOnce(t *testing.T) {
	const end = 5 * time.Minute
	accepted, late := 0, 0
	for seed := range int64(24) {
		r := rand.New(rand.NewSource(seed))
		lanes := make([]Lane, 1+r.Intn(4))
		for i := range lanes {
			lanes[i] = Lane{Name: strconv.Itoa(i), Share: []float64{1, 1, 0.7}[r.Intn(3)] / float64(len(lanes))}
		}
		m := newSim(t, canonical(r.Intn(2) == 0, lanes...))
		start := m.level("input")
		sources, offered := newSources(r, len(lanes)), 0.0
		for {
			lane := 0
			for i := range sources {
				if sources[i].next < sources[lane].next {
					lane = i
				}
			}
			s := sources[lane]
			if s.next > end {
				break
			}
			size := s.size * (0.5 + r.Float64())
			offered += size
			deadline := time.Duration(s.deadline * (0.5 + r.Float64()) * 1e9)
			if m.submit(s.next, m.tokens(lane, size, s.next, deadline)).State == Refused {
				s.refused++
			} else {
				s.accepted++
				accepted++
			}
			s.next += time.Duration(s.every * r.ExpFloat64() * 1e9)
		}
		m.runTo(end)
		had := start + tokenRate*end.Seconds()
		if used := m.spent[m.id("input")] / (had - m.level("input")); offered > 1.2*had && used < 0.99 {
			t.Errorf("seed %d: used %.4f of start and refill", seed, used)
		}
		m.runTo(end + 3*time.Minute)
		if m.expired > 0 {
			t.Errorf("seed %d: %d calls were parked to expire", seed, m.expired)
		}
		late += m.late
	}
	if late*100 > accepted {
		t.Errorf("%d of %d accepted calls were declined later", late, accepted)
	}
	t.Logf("%d of %d accepted calls were declined later", late, accepted)
}
