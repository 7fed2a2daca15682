// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"math"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/tally"
	"github.com/headgate-dev/headgate/internal/policy/decide"
)

// reasonOverloaded is why a call is not sent while its model is overloaded.
const reasonOverloaded = "Overloaded"

// maxBreakers bounds the models of a route that have one: the one that was used longest ago makes room.
const maxBreakers = 64

// breakers are one route's, by model: overloads are the provider's, whoever calls. A model has one from its first
// overload on, so that the others cost nothing.
type breakers struct {
	any     atomic.Bool
	mu      sync.Mutex
	byModel map[string]*breaker
	uses    uint64
}

type breaker struct {
	decide.Breaker

	used uint64
}

// allow says whether a call to model may be sent now, whether it is a probe, and else when to ask again.
func (b *breakers) allow(model string, now time.Time) (ok, probe bool, wait time.Duration) {
	if !b.any.Load() {
		return true, false, 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.byModel[model]
	if known == nil {
		return true, false, 0
	}
	b.uses++
	known.used = b.uses
	ok, probe = known.Allow(now)
	return ok, probe, known.Wait(now)
}

// record takes in how a send ended.
func (b *breakers) record(model string, class decide.Class, probe bool, random func() float64, now time.Time) {
	if class != decide.Overload && !b.any.Load() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.byModel[model]
	if known == nil {
		if class != decide.Overload {
			return
		}
		known = b.addLocked(model, random)
	}
	known.Record(class, probe, now)
}

func (b *breakers) addLocked(model string, random func() float64) *breaker {
	if b.byModel == nil {
		b.byModel = map[string]*breaker{}
		b.any.Store(true)
	}
	if len(b.byModel) >= maxBreakers {
		var oldest string
		for name, other := range b.byModel {
			if first := b.byModel[oldest]; first == nil || other.used < first.used {
				oldest = name
			}
		}
		delete(b.byModel, oldest)
	}
	b.uses++
	added := &breaker{Breaker: decide.Breaker{Rand: random}, used: b.uses}
	b.byModel[model] = added
	return added
}

// keptBack keeps an admitted call back while its model is overloaded: it waits on, with its place and its deadline, as
// long and as often as it would have for its own attempts, or is refused.
func (c *call) keptBack() (*again, bool) {
	if c.cfg.plan.Observe || c.cfg.policy == "" {
		return nil, false
	}
	now := c.now()
	ok, probe, wait := c.cfg.overloads.allow(c.account.Model, now)
	if ok {
		c.probe = probe
		c.judged.Store(false)
		return nil, false
	}
	c.settle(admission.Settlement{Kind: admission.KeptBack})
	// It waits longer each time, as after an overload, but as often as its deadline allows: nothing is sent.
	c.kept++
	in := c.decideInput(situation{class: dialect.ClassOverload, wait: wait, guided: true}, now)
	in.Attempt, in.RetriesLeft, in.BodyGone = c.sends+c.kept, true, false
	in.Settings.HonourCeiling, in.Settings.OverloadMaxAttempts = math.MaxInt64, math.MaxInt
	d := decide.Decide(in)
	if d.Action != decide.Retry {
		c.overloaded(string(d.Reason), wait)
		return nil, true
	}
	v := c.cfg.gate.Retry(c.ticket, now.Add(d.Wait), now)
	if v.State == budget.Refused {
		c.overloaded(string(v.Reason), max(wait, v.Wait))
		return nil, true
	}
	return &again{verdict: v, since: now, source: tally.WaitBackoff}, true
}

// overloaded ends a call that does not wait until its model is asked again. If that is because it has no time for it,
// it is one that cannot be made in time like any other, and may be put off.
func (c *call) overloaded(why string, wait time.Duration) {
	if c.elsewhere(why, wait) {
		return
	}
	reason := c.spokenReason(reasonOverloaded)
	c.lane.Refused(reason)
	c.outcome = outcomeRefused
	c.refuse(dialect.Refusal{
		Status: http.StatusServiceUnavailable, Reason: reason, RetryAfter: wait,
		Message: "headgate: " + c.cfg.who + ": " + c.cfg.display + " is overloaded and is asked again in " + spoken(wait) +
			"; your deadline is " + spoken(c.deadline.Sub(c.arrived)) + ". " + c.notSent(),
	})
}

// judge tells the breaker how the current send ended, once. It may be called by a relay's timer.
func (c *call) judge(class decide.Class) {
	if c.op.Free || c.cfg.plan.Observe || c.cfg.policy == "" || c.judged.Swap(true) {
		return
	}
	c.cfg.overloads.record(c.account.Model, class, c.probe, c.g.random, c.now())
}
