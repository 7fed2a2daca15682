// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/sharing"
	"github.com/headgate-dev/headgate/internal/simulate/gateway"
)

// member is one incarnation of a gateway.
type member struct {
	*sharing.Member
	f           *Fleet
	index       int
	incarnation uint64
	now         func() time.Time
	dead        bool
	timer       uint64
}

var _ gateway.Admission = (*member)(nil)

func newMember(f *Fleet, i int, opts admission.Options, fresh bool) *member {
	m := &member{f: f, index: i, incarnation: f.incarnations, now: opts.Clock}
	m.Member = sharing.New(sharing.Options{
		Facts: opts.Facts, Holder: name(i), Incarnation: m.incarnation, Fresh: fresh,
		Clock: opts.Clock, Decided: opts.Decided, MaxBytes: opts.MaxBytes, Hastened: m.hastened,
	}, f.route, f.env.MaxGateways, m.now())
	return m
}

// hastened has the next report be looked at when the member is not locked any longer.
func (m *member) hastened() { m.after(0) }

// schedule has the next report made when it is due.
func (m *member) schedule() {
	now := m.now()
	m.after(m.Due(now).Sub(now))
}

func (m *member) after(d time.Duration) {
	m.timer++
	mine := m.timer
	m.f.env.Clock.After(max(d, time.Microsecond), func() {
		if !m.dead && m.timer == mine {
			m.fire()
		}
	})
}

// fire reports if that is due.
func (m *member) fire() {
	if now := m.now(); !m.Due(now).After(now) {
		r := m.Draw(now)
		m.f.up(&r)
		m.f.env.Wake(m.index)
	}
	m.schedule()
}

// receive takes in a grant.
func (m *member) receive(g *pool.Grant) {
	m.Receive(g, m.now())
	m.schedule()
	m.f.env.Wake(m.index)
}
