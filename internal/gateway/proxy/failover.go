// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/tally"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/policy/decide"
)

// HeaderFailover is on answers of another route than the one that was called: FROM -> TO.
const HeaderFailover = "X-Headgate-Failover"

// failOver makes a call whose wait is above the ceiling anew, on the route that the policy names. It says whether the
// client has its answer by that: where the other route refuses or gives no answer, nothing has been written.
func (c *call) failOver(reason string, wait time.Duration) (answered bool) {
	if !c.mayFailOver(reason, wait) {
		return false
	}
	if c.cfg.failover == nil {
		c.cfg.tally.FailedOverTo(c.cfg.plan.Throttle.FailoverTo, tally.FailoverUnavailable)
		return false
	}
	c.standing = wait
	other := c.anew(c.cfg.failover)
	// A panic, too, must leave nothing reserved there.
	defer func() { answered = c.took(other) }()
	if other.routeWorks() {
		other.run()
	}
	return false
}

// mayFailOver says whether the call is one for another route: never one that cannot be sent again, nor one without a
// caller, which may wait.
func (c *call) mayFailOver(reason string, wait time.Duration) bool {
	if c.cfg.plan.Throttle.OnCeilingExceeded != plan.Failover || c.later != nil || !c.replayable() {
		return false
	}
	now := c.now()
	if reason == string(decide.CeilingExceeded) {
		c.cfg.ceilings.set(c.account, c.estimate.Input+c.estimate.Output, now.Add(wait), now)
		return true
	}
	// While such a wait stands, calls that would have to wait as long are refused without being sent.
	return passing[reason] && wait > c.cfg.settings.HonourCeiling && c.cfg.ceilings.stands(c.account, now)
}

// anew is the same request as a call to another route, with no more time than this one has left.
func (c *call) anew(cfg *config) *call {
	r := c.r.WithContext(c.r.Context())
	r.Header = c.r.Header.Clone()
	other := newCall(c.g, cfg, c.w, r, c.rest, c.now())
	other.from, other.deadline, other.alive = c, c.deadline, c.alive
	other.op, other.req, other.body = c.op, c.req, c.body
	return other
}

// took ends a call to another route, and takes over what became of it.
func (c *call) took(other *call) (answered bool) {
	other.release()
	other.finish()
	c.to = other.cfg
	c.cfg.tally.FailedOverTo(other.cfg.plan.Name, other.outcome)
	c.status, c.begun = other.status, other.begun
	c.w, c.alive = other.w, other.alive // it may have waited there first
	switch {
	case other.status != 0 || other.begun:
		c.outcome = outcomeFailedOver
		c.cfg.tally.FailedOver.Add(1)
		return true
	case other.outcome == outcomeCancelled:
		c.outcome = outcomeCancelled
		return true
	}
	return false
}

// keyMayGo says whether the credentials that the call is sent with may go where it goes. Only a call that fails over is
// sent where its caller did not mean it to go: there the app's own key may go only to the host that it was sent for.
func (c *call) keyMayGo() bool {
	if c.from == nil {
		return true
	}
	if c.key != "" {
		_, err := c.g.opts.Credentials.Key(c.key, c.cfg.base)
		if err == nil {
			return true
		}
	} else if c.from.key == "" && !c.signed && sameHost(c.from.cfg, c.cfg) {
		return true
	}
	c.outcome, c.reason = outcomeRefused, reasonCredential
	c.lane.Refused(reasonCredential)
	return false
}

// sameHost compares scheme, host and port.
func sameHost(a, b *config) bool {
	return a.base != nil && b.base != nil && a.base.Scheme == b.base.Scheme &&
		strings.EqualFold(a.base.Hostname(), b.base.Hostname()) && portOf(a.base) == portOf(b.base)
}

// hop names both routes of a call that fails over, "" for any other.
func (c *call) hop() string {
	switch {
	case c.from != nil:
		return c.from.cfg.plan.Name + " -> " + c.cfg.plan.Name
	case c.to != nil:
		return c.cfg.plan.Name + " -> " + c.to.plan.Name
	}
	return ""
}
