// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"time"

	"github.com/headgate-dev/headgate/internal/wire"
)

// Draws is the part of a gateway that draws on budgets which others use too. It is safe for concurrent use.
type Draws interface {
	// Draws are those that are due by now, or all of them: what was said on a stream that ended may be lost.
	Draws(all bool, now time.Time) []*wire.Draw
	// NextDraw is when Draws is due; false if nothing draws. Hastened is signalled when that has become earlier.
	NextDraw(now time.Time) (time.Time, bool)
	Hastened() <-chan struct{}
	// Receive takes in what was granted.
	Receive(grants []*wire.Grant, now time.Time)
	// Drain ends it: nothing is spent any longer, and the last draws give everything back.
	Drain(now time.Time) []*wire.Draw
}

const (
	// drawsPerSecond and drawBurst pace messages of draws: a route draws at most ten times a second, and those of many routes
	// go together. A coordinator slows down who sends more.
	drawsPerSecond = 12
	drawBurst      = 8
)

// pace lets so many messages go at once, and so many in a second over time.
type pace struct{ at time.Time }

// wait is until when the next message must wait.
func (p *pace) wait(now time.Time) time.Time {
	if earliest := p.at.Add(-(drawBurst - 1) * time.Second / drawsPerSecond); earliest.After(now) {
		return earliest
	}
	return now
}

func (p *pace) sent(now time.Time) {
	if p.at.Before(now) {
		p.at = now
	}
	p.at = p.at.Add(time.Second / drawsPerSecond)
}

// drawer sends the draws of one stream.
type drawer struct {
	session *session
	draws   Draws // nil draws nothing
	timer   *time.Timer
	pace    pace
	// backlog are those that follow in the next message; owed says that an answer is due, answered that there
	// was one.
	backlog        []*wire.Draw
	owed, answered bool
}

// begin sends the first draws. Where nothing draws no answer is due, and only the connection's pings tell that it is lost.
func (d *drawer) begin(now time.Time) bool {
	if !d.send(true, now) {
		return false
	}
	if !d.owed {
		d.session.silence.Stop()
	}
	return true
}

func newDrawer(s *session, draws Draws) *drawer {
	d := &drawer{session: s, draws: draws, timer: time.NewTimer(time.Hour)}
	d.timer.Stop()
	return d
}

// hastened is the signal that a draw has become due earlier.
func (d *drawer) hastened() <-chan struct{} {
	if d.draws == nil {
		return nil
	}
	return d.draws.Hastened()
}

// send sends what is due, as far as the pace allows, and sets the timer for the rest; false if the stream has ended.
func (d *drawer) send(all bool, now time.Time) bool {
	if d.draws == nil {
		return true
	}
	if len(d.backlog) == 0 && !d.pace.wait(now).After(now) {
		d.backlog = d.draws.Draws(all, now)
	}
	for len(d.backlog) > 0 && !d.pace.wait(now).After(now) {
		n := min(len(d.backlog), wire.MaxDraws)
		if !d.message(d.backlog[:n]) {
			return false
		}
		d.pace.sent(now)
		d.backlog = d.backlog[n:]
	}
	d.rearm(now)
	return true
}

func (d *drawer) message(draws []*wire.Draw) bool {
	if d.session.stream.Send(&wire.Up{Message: &wire.Up_Draws{Draws: &wire.Draws{Draws: draws}}}) != nil {
		return false
	}
	if !d.owed {
		d.owed = true
		if d.answered {
			d.session.silence.Reset(wire.LeaseTTL)
		}
	}
	return true
}

// rearm sets the timer to when the next message is due and may go.
func (d *drawer) rearm(now time.Time) {
	if d.draws == nil {
		return
	}
	at, ok := d.draws.NextDraw(now)
	if len(d.backlog) > 0 {
		at, ok = now, true
	}
	if !ok {
		d.timer.Stop()
		return
	}
	if earliest := d.pace.wait(now); at.Before(earliest) {
		at = earliest
	}
	d.timer.Reset(max(at.Sub(now), 0))
}

// receive takes in grants.
func (d *drawer) receive(grants *wire.Grants, now time.Time) {
	if d.draws == nil {
		return
	}
	d.draws.Receive(grants.GetGrants(), now)
	d.rearm(now)
}

// heard notes that the coordinator said something.
func (d *drawer) heard() {
	d.owed, d.answered = false, true
	d.session.silence.Stop()
}

// drain sends the last draws.
func (d *drawer) drain(now time.Time) bool {
	d.timer.Stop()
	if d.draws == nil {
		return true
	}
	for last := d.draws.Drain(now); len(last) > 0; {
		n := min(len(last), wire.MaxDraws)
		if !d.message(last[:n]) {
			return false
		}
		last = last[n:]
	}
	return true
}
