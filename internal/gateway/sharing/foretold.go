// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"slices"
	"time"
)

// What a large call waits for only the pool knows: what is there, and who waits at other gateways. It says so with each answer, of
// lanes that ask for large calls. Where it has not said so, a call that would be late by its lane's share asks, and is judged by
// the answer.

// foretold is when a large call may go by what the pool said last, and the limit it waits for longest. It is false if nothing was
// said of late.
func (m *Member) foretold(p *place) (wait time.Duration, scarcest int, ok bool) {
	if !m.leased {
		return 0, 0, false
	}
	of, asked := m.holder.Outlook(m.route.Lanes[p.lane].Name, fresh, m.at)
	longest := 0.0
	for _, o := range of {
		k := slices.IndexFunc(m.limits, func(l limit) bool { return l.Name == o.Budget })
		if k < 0 || m.limits[k].slots || m.limits[k].caps || p.costs[k] == 0 {
			continue
		}
		ok = true
		lacks := m.before(p, k, asked) - o.Spare
		if lacks <= 0 {
			continue
		}
		if seconds := lacks / max(o.PerSecond, m.limits[k].rate/endless); seconds > longest {
			longest, scarcest = seconds, k
		}
	}
	return time.Duration(min(longest, endless) * float64(time.Second)), scarcest, ok
}

// before is what a call takes of a limit, with those of its lane before it, as far as the pool did not count them; less what it counted
// of calls that have left since.
func (m *Member) before(p *place, k int, asked uint64) float64 {
	sum, counted := 0.0, 0.0
	lane := &m.lanes[p.lane]
	earlier := true
	for _, q := range lane.large {
		earlier = earlier && q != p
		switch {
		case q.where != aside:
		case asked > 0 && q.number > 0 && q.number <= asked:
			counted += q.costs[k]
		case earlier:
			sum += q.costs[k]
		}
	}
	if p.where != aside || asked == 0 || p.number == 0 || p.number > asked {
		sum += p.costs[k]
	}
	if asked > 0 && asked == lane.asked && !m.wasGranted(p.lane, asked) {
		sum -= max(0, lane.cost[k]-counted)
	}
	return sum
}

// rejudge decides about the calls that wait for the pool to say when they may go, now that it has spoken.
func (m *Member) rejudge(now time.Time) {
	for i := range m.lanes {
		for _, p := range slices.Clone(m.lanes[i].large) {
			if p.where != aside || !p.tried {
				continue
			}
			if _, _, told := m.foretold(p); !told {
				continue
			}
			v, by, refused := m.judge(p, now)
			if refused {
				m.refuse(p, v)
				continue
			}
			p.by, p.refusal, m.stale = by, v, true
		}
	}
}
