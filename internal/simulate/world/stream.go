// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/simulate/clock"
	"github.com/headgate-dev/headgate/internal/simulate/result"
	"github.com/headgate-dev/headgate/internal/simulate/workload"
)

// stream is one of the workload's while it is played.
type stream struct {
	*workload.Stream
	index  int
	header http.Header
	// gaps and draws are chance of its own, so that no client changes what it offers.
	gaps, draws *rand.Rand
	result      result.Stream
	waits       samples
	declines    samples
	// heeded counts the sends that followed a wait which was told.
	heeded int
	// used is what admitted calls took, by budget.
	used map[string]float64
	// declined counts every refusal of Headgate's, for the curves.
	declined int
}

func newStream(w *World, i int, seed uint64) (*stream, error) {
	s := &stream{
		Stream: &w.wl.Streams[i], index: i, header: http.Header{}, used: map[string]float64{},
		gaps: source(seed, uint64(1000+2*i)), draws: source(seed, uint64(1001+2*i)),
	}
	for name, value := range s.Header {
		s.header.Set(name, value)
	}
	s.result = result.Stream{
		Counts: newCounts(), Tenant: s.Tenant, Route: s.Route, Lane: s.Lane,
	}
	if s.Lane != "" && laneNamed(w.sites[s.Route].route, s.Lane) < 0 {
		return nil, fmt.Errorf("%w:\n  streams[%d].lane: the policy's provider %s has no lane %q", workload.ErrInvalid, i, s.Route, s.Lane)
	}
	return s, nil
}

func newCounts() result.Counts {
	return result.Counts{Declined: map[string]int{}, Failed: map[string]int{}}
}

func (w *World) scheduleStreams() {
	for _, s := range w.streams {
		first := clock.Start.Add(s.Arrivals.From)
		switch {
		case s.Arrivals.Count > 0:
			w.clock.At(first, func() {
				for range s.Arrivals.Count {
					w.arrival(s)
				}
			})
			continue
		case s.Arrivals.Every > 0:
			w.next(s, first)
		case s.Arrivals.PerMinute > 0:
			w.next(s, first.Add(s.gap()))
		}
	}
}

// next has the stream's next call come at a time, if that is not past its end.
func (w *World) next(s *stream, at time.Time) {
	if !at.Before(clock.Start.Add(s.Arrivals.To)) {
		return
	}
	w.clock.At(at, func() {
		w.arrival(s)
		w.next(s, at.Add(s.gap()))
	})
}

// gap is the time between two calls.
func (s *stream) gap() time.Duration {
	if s.Arrivals.Every > 0 {
		return s.Arrivals.Every
	}
	minutes := s.gaps.ExpFloat64() / s.Arrivals.PerMinute
	return max(1, time.Duration(minutes*float64(time.Minute)))
}

// arrival draws a call and offers it.
func (w *World) arrival(s *stream) {
	if w.calls++; w.calls > workload.MaxCalls {
		w.err = fmt.Errorf("%w:\n  streams: more than %d calls came", workload.ErrInvalid, workload.MaxCalls)
		return
	}
	c := s.draw()
	c.Gateway = w.gateway(s.draws.Float64())
	c.First = w.Now()
	c.state.counted = !c.First.Before(w.begin)
	if c.state.counted {
		s.result.Offered++
		s.result.Unfinished++
	}
	w.offer(c)
}

// draw takes the same number of draws for each call.
func (s *stream) draw() *Call {
	c := &Call{
		Stream: s.index, Tenant: s.Tenant, Route: s.Route, Lane: s.Lane, Model: s.Model,
		Patience: s.Deadline, MaxTokens: s.MaxTokens, Streaming: s.Streaming, LeavesAfter: 1,
	}
	c.Input = math.Max(1, math.Round(s.InputTokens.At(s.draws.NormFloat64())))
	c.Output = math.Round(s.OutputTokens.At(s.draws.NormFloat64()))
	c.CallTime = time.Duration(s.CallTime.At(s.draws.NormFloat64()) * float64(time.Second))
	off := min(max(s.draws.NormFloat64(), -3), 3) * s.EstimateErrorPercent / 100
	c.Estimate = math.Max(1, c.Input*math.Max(0.05, 1+off))
	leaves, when := s.draws.Float64()*100 < s.DisconnectPercent, s.draws.Float64()
	if leaves {
		c.LeavesAfter = when
	}
	if c.MaxTokens > 0 {
		c.Output = min(c.Output, c.MaxTokens)
	}
	return c
}

// offer gives the call to the client, as one that arrives now.
func (w *World) offer(c *Call) {
	c.Arrival, c.state.open = w.Now(), true
	w.client.Offer(c)
}

// LaneOf is the lane of a route that takes the call: the one its stream names, else the first that matches.
func (w *World) LaneOf(c *Call, route *plan.Route) int {
	s := w.streams[c.Stream]
	if s.Lane != "" {
		if i := laneNamed(route, s.Lane); i >= 0 {
			return i
		}
	}
	asked := plan.Facts{
		InputTokens: int64(math.Ceil(c.Estimate)), Model: c.Model, Path: s.Path, Header: s.header.Values,
	}
	for i := range route.Lanes {
		if route.Lanes[i].Matches(asked) {
			return i
		}
	}
	return len(route.Lanes) - 1
}

func laneNamed(route *plan.Route, name string) int {
	for i := range route.Lanes {
		if route.Lanes[i].Name == name {
			return i
		}
	}
	return -1
}
