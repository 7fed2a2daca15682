// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/admission"
)

// Figures takes the figures: the gate's, with what waits aside. A limit's capacity is this gateway's part of it.
func (m *Member) Figures(now time.Time) admission.Figures {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.catchUp(now)
	out := m.gate.Figures(now)
	for k := range m.limits {
		if k < len(out.Limits) {
			m.figure(&m.limits[k], &out.Limits[k])
		}
	}
	for i := range m.lanes {
		if i >= len(out.Lanes) {
			break
		}
		lane := &out.Lanes[i]
		lane.Queued += m.lanes[i].apart.n
		lane.Bytes += m.lanes[i].bytes
		for _, p := range m.lanes[i].large {
			if p.where != aside {
				continue
			}
			lane.OldestWait = max(lane.OldestWait, now.Sub(p.ticket.Arrival))
			for k := range out.Limits {
				f := &out.Limits[k]
				f.Binding = f.Binding || p.costs[k] > max(0, f.Level)
			}
			// Who comes later lacks no more.
			break
		}
	}
	return out
}

func (m *Member) figure(l *limit, f *admission.LimitFigures) {
	f.Offered += l.unoffered
	if !l.slots && l.rate > 0 && !m.open {
		f.Capacity = min(f.Capacity, max(l.capacity*l.expected/l.rate, f.Level))
	}
}
