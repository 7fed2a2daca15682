// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// What the SDKs made by the most used generator do on their own.
const (
	sdkBase   = 500 * time.Millisecond
	sdkCap    = 8 * time.Second
	sdkJitter = 0.25
	// sdkHonours is the longest Retry-After that they wait; above it they use their own backoff.
	sdkHonours = time.Minute
)

// End ends an offer.
func (w *World) End(c *Call, o Outcome) {
	state, s := &c.state, w.streams[c.Stream]
	if !state.open {
		if w.err == nil {
			w.err = fmt.Errorf("a call of stream %s was ended twice: that is an error of the simulator", s.Name)
		}
		return
	}
	state.open = false
	if state.deferred {
		if state.counted && o.Kind == Succeeded {
			s.result.DeferredDone++
		}
		return
	}
	if o.Kind == Declined {
		s.declined++
	}
	if w.resubmits(c, o) {
		return
	}
	if state.counted {
		s.ended(c, o, w.Now())
	}
	if o.Kind == Deferred {
		state.deferred, state.open = true, true
	}
}

// resubmits has the caller's SDK offer the call again, where nothing forbids it.
func (w *World) resubmits(c *Call, o Outcome) bool {
	state, s := &c.state, w.streams[c.Stream]
	if o.Final || o.Kind == Succeeded || o.Kind == Deferred || o.Reason == ReasonHungUp || state.resubmits >= s.SDKRetries {
		return false
	}
	wait := o.RetryAfter
	if wait <= 0 || wait > sdkHonours {
		wait = min(sdkCap, sdkBase<<min(state.resubmits, 10))
		wait -= time.Duration(sdkJitter * w.sdks.Float64() * float64(wait))
	}
	state.resubmits++
	if state.counted {
		s.result.Resubmitted++
	}
	w.After(wait, func() { w.offer(c) })
	return true
}

// ended counts what became of a call.
func (s *stream) ended(c *Call, o Outcome, now time.Time) {
	r, state := &s.result, &c.state
	r.Unfinished--
	switch o.Kind {
	case Succeeded:
		r.Succeeded++
		s.waits.add(state.lastSent.Sub(c.First).Seconds())
		if s.Deadline > 0 && state.firstContent.Sub(c.First) > s.Deadline {
			r.TooLate++
		}
		if state.failedOver {
			r.FailedOver++
		}
	case Declined:
		r.Declined[o.Reason]++
		s.declines.add(now.Sub(c.First).Seconds())
	case Deferred:
		r.Deferred++
	case Failed:
		r.Failed[o.Reason]++
	}
}

// samples are seconds.
type samples struct{ all []float64 }

func (s *samples) add(v float64) { s.all = append(s.all, v) }

// sort is due before quantile and bins.
func (s *samples) sort() { slices.Sort(s.all) }

// quantile is the nearest rank.
func (s *samples) quantile(q float64) float64 {
	if len(s.all) == 0 {
		return 0
	}
	return s.all[max(0, int(math.Ceil(q*float64(len(s.all))))-1)]
}
