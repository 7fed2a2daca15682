// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"math"
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
)

// useTime is over which time use counts as lately.
const useTime = 30 * time.Second

// average is of what comes in a second, over useTime.
type average struct {
	perSecond float64
	at        time.Time
}

func (a *average) now(now time.Time) float64 {
	if dt := now.Sub(a.at); dt > 0 {
		a.perSecond *= math.Exp(-dt.Seconds() / useTime.Seconds())
		a.at = now
	}
	return a.perSecond
}

func (a *average) add(units float64, now time.Time) {
	a.perSecond = max(0, a.now(now)+units/useTime.Seconds())
}

// spending is what a gateway's reports say that status shows. Nothing is granted by it.
type spending struct {
	incarnation, sequence uint64
	heardAt               time.Time
	// spent is by the route's limits what was spent by the last report, less what was refunded.
	spent []float64
	waits []waiting
}

// waiting is what one want of the newest report asks for.
type waiting struct {
	lane string
	bulk uint64
	// units are by the route's limits: of a large call its cost, of small calls up to which total they want to be granted.
	units []float64
	// left is what of it was not granted by the newest grant.
	left []float64
}

func (s *spending) forgetCounts() { s.spent, s.waits = nil, nil }

// reports says whether a gateway was heard of lately.
func (s *spending) reports(now time.Time, ttl time.Duration) bool {
	return !s.heardAt.IsZero() && now.Sub(s.heardAt) <= ttl
}

// heard takes in a report that the pool took in.
func (m *member) heard(rep *pool.Report, now time.Time) {
	r := m.route
	known := m.incarnation == rep.Incarnation && m.spent != nil
	if m.spent == nil {
		m.spent = make([]float64, len(r.plan.Limits))
	}
	m.incarnation, m.sequence, m.heardAt = rep.Incarnation, rep.Sequence, now
	for i := range rep.Counts {
		c := &rep.Counts[i]
		k := place(r.plan.Limits, c.Budget)
		if k < 0 {
			continue
		}
		total := finite(c.Spent) - finite(c.Refunded)
		if known {
			// What is absurd counts as one whole burst.
			most := float64(r.plan.Limits[k].Burst)
			r.used[k].add(min(max(total-m.spent[k], -most), most), now)
		}
		m.spent[k] = total
	}
	m.want(rep, now)
}

// want notes what a report asks for.
func (m *member) want(rep *pool.Report, now time.Time) {
	r, old := m.route, m.waits
	m.waits = m.waits[:0]
	for i := range rep.Wants {
		w := &rep.Wants[i]
		var one waiting
		if i < cap(old) {
			one = old[:cap(old)][i]
		}
		one.lane, one.bulk = w.Lane, w.Bulk
		one.units = zeroed(one.units, len(r.plan.Limits))
		one.left = zeroed(one.left, len(r.plan.Limits))
		for _, u := range w.Units {
			if k := place(r.plan.Limits, u.Budget); k >= 0 {
				one.units[k] = min(finite(u.Units), maxUnits)
			}
		}
		if lane := laneAt(r.plan.Lanes, w.Lane); w.Bulk > 0 && lane >= 0 {
			r.largest[lane].see(one.units, now)
		}
		m.waits = append(m.waits, one)
	}
}

// peakTime is how long a lane's largest call is expected to come again.
const peakTime = 5 * time.Minute

// peak is the costs of the largest call of late, by the route's limits.
type peak struct {
	units []float64
	at    time.Time
}

func (p *peak) see(units []float64, now time.Time) {
	more := len(p.units) != len(units) || now.Sub(p.at) > peakTime
	for i := 0; !more && i < len(units); i++ {
		more = units[i] > p.units[i]
	}
	if more {
		p.units, p.at = append(p.units[:0], units...), now
	}
}

func zeroed(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// told takes in what a gateway is told that it was granted, by the plan's names.
func (m *member) told(g *pool.Grant) {
	for i := range m.waits {
		w := &m.waits[i]
		copy(w.left, w.units)
		for k := range g.Lanes {
			t := &g.Lanes[k]
			if t.Lane != w.lane {
				continue
			}
			if w.bulk > 0 && t.Bulk >= w.bulk {
				clear(w.left)
			}
			for _, u := range t.Units {
				if j := place(m.route.plan.Limits, u.Budget); w.bulk == 0 && j >= 0 {
					w.left[j] = max(0, w.units[j]-u.Units)
				}
			}
		}
	}
}

// maxUnits keeps sums far from infinity.
const maxUnits = 1e15

func finite(x float64) float64 {
	if math.IsNaN(x) || x < 0 {
		return 0
	}
	return min(x, maxUnits)
}
