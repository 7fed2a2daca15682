// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"net/http"
	"time"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/simulate/clock"
	"github.com/headgate-dev/headgate/internal/simulate/referee"
	"github.com/headgate-dev/headgate/internal/simulate/result"
	"github.com/headgate-dev/headgate/internal/simulate/workload"
)

const (
	// beginning is the part of a streamed call's time until its first content.
	beginning = 0.1
	// steps is in how many pieces a stream's output comes.
	steps = 4
	// peakOf is the time within which the most sends are looked for.
	peakOf = 100 * time.Millisecond
)

// site is a provider with the way to it.
type site struct {
	w       *World
	cfg     *workload.Provider
	route   *plan.Route
	facts   facts.Facts
	referee *referee.Provider
	private *private
	figures result.Provider
	// recent are the arrivals of the last peakOf.
	recent []time.Time
	// seen, throttled and overloaded count everything, for the curves.
	seen, throttled, overloaded int
}

func newSite(w *World, p *workload.Provider, route *plan.Route, f facts.Facts) *site {
	s := &site{w: w, cfg: p, route: route, facts: f, referee: referee.New(*p, f, w.wl.InitialLevel, clock.Start)}
	s.private = newPrivate(route, p)
	return s
}

// oneWay is how long a message travels to the provider, or back.
func (s *site) oneWay() time.Duration {
	if s.cfg.Jitter == 0 {
		return s.cfg.Latency
	}
	return s.cfg.Latency + time.Duration(s.w.network.Float64()*float64(s.cfg.Jitter))
}

// send is one send on its way.
type send struct {
	c    *Call
	site *site
	to   Listener
	sent time.Time
	hold *referee.Hold
	told float64
}

// Send makes one attempt at a route's provider. The listener hears of it later.
func (w *World) Send(c *Call, route string, to Listener) {
	now := w.Now()
	s := &send{c: c, site: w.sites[route], to: to, sent: now, told: w.told.Float64()}
	st, state := w.streams[c.Stream], &c.state
	if state.counted {
		st.result.Attempts++
		if !state.floor.IsZero() && route == c.Route { // another provider did not ask for the wait
			st.floor(now.Sub(state.floor).Seconds())
		}
	}
	state.floor = time.Time{}
	state.sends++
	state.lastSent = now
	state.failedOver = route != c.Route
	w.After(s.site.oneWay(), s.arrive)
}

// floor notes how far a retry was from the time it was told.
func (s *stream) floor(distance float64) {
	if s.heeded++; s.heeded == 1 || distance < s.result.EarliestSendMinusFloor {
		s.result.EarliestSendMinusFloor = distance
	}
}

// arrive has the provider judge.
func (s *send) arrive() {
	now := s.site.w.Now()
	v := s.site.referee.Arrive(referee.Request{Input: s.c.Input, Output: s.c.Output, MaxTokens: s.c.MaxTokens}, now, s.told)
	s.site.count(v.Status, now)
	if v.Status == http.StatusOK {
		s.hold = v.Hold
		s.compare()
		s.admitted()
		return
	}
	a := &Answer{Status: v.Status, Header: v.Header, Body: v.Body, RetryAfter: v.RetryAfter, Waits: v.Waits, Sent: s.sent}
	s.site.w.After(s.site.oneWay(), func() {
		if v.Waits {
			s.c.state.floor = s.site.w.Now().Add(v.RetryAfter)
			s.c.state.told++
			if s.c.state.counted {
				s.site.w.streams[s.c.Stream].result.Told++
			}
		}
		s.to.Headers(a)
	})
}

// compare finds out how much later the call left than from a bucket of its lane's own.
func (s *send) compare() {
	if s.c.Route != s.site.cfg.Route {
		return // it failed over: the lane promised nothing here
	}
	late := s.site.private.left(s.site.w.LaneOf(s.c, s.site.route), s.c, s.sent)
	if s.c.state.counted {
		st := s.site.w.streams[s.c.Stream]
		st.result.Lateness.Max = max(st.result.Lateness.Max, late)
	}
}

// count counts an arrival.
func (s *site) count(status int, now time.Time) {
	s.seen++
	f := &s.figures
	f.Sends++
	switch status {
	case http.StatusTooManyRequests:
		s.throttled++
		f.Rejected429++
	case http.StatusOK:
	default:
		s.overloaded++
		f.Rejected529++
	}
	old := 0
	for old < len(s.recent) && now.Sub(s.recent[old]) >= peakOf {
		old++
	}
	s.recent = append(s.recent[:0], s.recent[old:]...)
	s.recent = append(s.recent, now)
	f.PeakPer100ms = max(f.PeakPer100ms, len(s.recent))
}

// admitted has the provider work on the call: the answer begins after a tenth of the time where it is streamed, and at
// its end where it is not.
func (s *send) admitted() {
	c := s.c
	leaves := c.LeavesAfter
	begins := 1.0
	if c.Streaming {
		begins = beginning
	}
	at := func(part float64, do func()) {
		s.site.w.After(time.Duration(part*float64(c.CallTime)), do)
	}
	if leaves < begins {
		at(leaves, func() { s.broken(c.Output*leaves, false) })
		return
	}
	at(begins, s.begin)
	if !c.Streaming {
		at(1, s.finish)
		return
	}
	for step := 1; step <= steps; step++ {
		part := begins + (1-begins)*float64(step)/steps
		if part > leaves {
			at(leaves, func() { s.broken(c.Output*leaves, true) })
			return
		}
		at(part, func() { s.produce(c.Output * part) })
	}
	at(1, s.finish)
}

// begin sends the headers of a success.
func (s *send) begin() {
	now := s.site.w.Now()
	if !s.c.Streaming {
		s.hold.Produce(s.c.Output, now)
	}
	a := &Answer{Status: http.StatusOK, Header: s.hold.Headers(now, s.told), Sent: s.sent}
	s.site.w.After(s.back(), func() {
		if s.c.state.firstContent.IsZero() {
			s.c.state.firstContent = s.site.w.Now()
		}
		s.to.Headers(a)
	})
}

// back is the way back of a success. It is the same for all of its parts, so that they stay in order.
func (s *send) back() time.Duration {
	return s.site.cfg.Latency + time.Duration(s.told*float64(s.site.cfg.Jitter))
}

func (s *send) produce(output float64) {
	s.hold.Produce(output, s.site.w.Now())
	s.site.w.After(s.back(), func() { s.to.Progress(output) })
}

func (s *send) finish() {
	s.hold.Produce(s.c.Output, s.site.w.Now())
	s.end(&Answer{Status: http.StatusOK, Sent: s.sent, Usage: usage(s.c.Input, s.c.Output)}, s.c.Output)
}

// broken ends a call whose caller has left. Of an answer that has begun the input is known.
func (s *send) broken(output float64, begun bool) {
	s.hold.Produce(output, s.site.w.Now())
	a := &Answer{Status: http.StatusOK, Sent: s.sent, Usage: dialect.Unknown(), HungUp: true}
	if begun {
		a.Usage.Input = int64(s.c.Input)
	}
	s.end(a, output)
}

func (s *send) end(a *Answer, output float64) {
	s.hold.Finish(s.site.w.Now())
	if s.c.state.counted {
		used := s.site.w.streams[s.c.Stream].used
		used[plan.Requests]++
		used[plan.InputTokens] += s.c.Input
		used[plan.OutputTokens] += output
	}
	s.site.w.After(s.back(), func() { s.to.Done(a) })
}

func usage(input, output float64) dialect.Usage {
	u := dialect.Unknown()
	u.Input, u.Output = int64(input), int64(output)
	return u
}
