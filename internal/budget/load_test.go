// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"math/rand"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
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
	const end = 3 * time.Minute
	accepted, late := 0, 0
	for seed := range int64(24) {
		r := rand.New(rand.NewSource(seed))
		ranked := seed >= 12
		lanes := make([]Lane, 1+r.Intn(4))
		for i := range lanes {
			lanes[i] = Lane{Name: strconv.Itoa(i), Share: []float64{1, 1, 0.7}[r.Intn(3)] / float64(len(lanes))}
			if ranked {
				lanes[i].Share *= 0.5
				lanes[i].Priority, lanes[i].Weight = r.Int31n(3), float64(1+r.Intn(5))
			}
		}
		cfg := canonical(r.Intn(2) == 0, lanes...)
		cfg.Margin = 0.05
		m := newSim(t, cfg)
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
	if late*1000 > accepted {
		t.Errorf("%d of %d accepted calls were declined later", late, accepted)
	}
	t.Logf("%d of %d accepted calls were declined later", late, accepted)
}

// A lane that sends a large call now and then is expected to do so again: what other lanes borrow meanwhile does not
// make them accept calls that the next large one would make late.
func TestLargeCallsMakeNoAcceptedCallLate(t *testing.T) {
	for _, every := range []time.Duration{20 * time.Second, time.Minute, 2 * time.Minute} {
		for _, patience := range []time.Duration{5 * time.Second, 30 * time.Second} {
			t.Run(every.String()+" "+patience.String(), func(t *testing.T) {
				cfg := canonical(false, chatAndBulk...)
				cfg.Margin = 0.05
				m := newSim(t, cfg)
				chat := &load{lane: 1, tokens: 2000, every: 200 * time.Millisecond, deadline: patience, next: time.Second}
				bulk := &load{lane: 0, tokens: 60_000, every: every, deadline: time.Minute}
				m.play(6*time.Minute, chat, bulk)
				if m.late+m.expired > 0 || len(bulk.refused) > 0 {
					t.Errorf("%d declined late, %d expired, %d large ones refused", m.late, m.expired, len(bulk.refused))
				}
				if used := m.spent[m.id("input")] / (400_000 + tokenRate*360 - m.level("input")); used < 0.99 {
					t.Errorf("used %.4f of start and refill", used)
				}
			})
		}
	}
}

func TestAcceptedCallsHaveAMargin(t *testing.T) {
	cfg := canonical(true)
	cfg.Margin = 0.05
	for patience, want := range map[time.Duration]State{9400 * time.Millisecond: Refused, 9500 * time.Millisecond: Queued} {
		m := newSim(t, cfg)
		if v := m.submit(0, m.tokens(0, 60_000, 0, patience)); v.State != want || v.Wait != 9*time.Second {
			t.Errorf("a wait of 9s and a patience of %v: %+v", patience, v)
		}
	}
	// A full queue survives the loss of a second's refill.
	m := newSim(t, cfg)
	var last *simCall
	for {
		c := m.tokens(0, 2000, 0, 30*time.Second)
		if m.submit(0, c).State != Queued {
			break
		}
		last = c
	}
	m.runTo(10 * time.Second)
	m.s.Lower(m.id("input"), m.level("input")-tokenRate, m.now)
	m.runTo(time.Minute)
	if m.late+m.expired > 0 || last.left < 29*time.Second {
		t.Errorf("%d declined late, %d expired, the last left at %v", m.late, m.expired, last.left)
	}
}

// Whoever is declined for want of time is told of a wait: an answer "fits in 0s" would be wrong.
func TestDeclinesNameAWait(t *testing.T) {
	check(t, 1000, func(t *rapid.T) {
		w := newWorld(t)
		w.s.margin = 0.05
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			w.step("uuuuuusscmttl")
			for _, c := range w.turned {
				if v := c.Verdict(); v.Reason == ReasonDeadline && v.Wait <= 0 && c.Deadline.After(w.now) {
					t.Fatalf("%v: declined with %+v, deadline %v", w.since(), v, c.Deadline.Sub(origin))
				}
			}
			w.turned = w.turned[:0]
		}
	})
}
