// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"hash/maphash"
	"net/http"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/policy/decide"
)

// longestTold bounds how long an SDK is held to a wait: a provider's word may be junk.
const longestTold = time.Hour

var toldSeed = maphash.MakeSeed()

// sameCall names a call by its account and what it asks, which an SDK that tries again repeats to the byte.
func (c *call) sameCall() admission.Account {
	var h maphash.Hash
	h.SetSeed(toldSeed)
	maphash.WriteComparable(&h, c.account)
	_, _ = h.WriteString(c.rest)
	_, _ = h.Write(c.body.Bytes)
	return admission.Account{Fingerprint: h.Sum64(), Model: c.account.Model}
}

// tell notes what the client of a throttled call is told, since not every SDK obeys it: see heldToWait.
func (c *call) tell(resp *http.Response, wait time.Duration) {
	if resp.StatusCode != http.StatusTooManyRequests || c.later != nil || len(c.body.Bytes) == 0 || !c.body.Replayable() {
		return
	}
	now := c.now()
	c.cfg.told.set(c.sameCall(), 0, now.Add(min(wait, longestTold)), now)
	if first := c.from; first != nil {
		// The client called the other route, and calls that again: no provider is to be asked before one of them serves it.
		first.cfg.told.set(first.sameCall(), 0, now.Add(min(wait, first.standing, longestTold)), now)
	}
}

// heldToWait answers an SDK's own retry of a call whose attempts are over, as long as the wait lasts that it was told with
// that answer. Sent on, each of its attempts would become as many as the gateway may make of a call.
func (c *call) heldToWait() bool {
	if c.cfg.plan.Observe || c.later != nil || c.cfg.told.stated.Load() == 0 {
		return false
	}
	sdk := stackedBy(c.r.Header)
	if sdk == "" {
		return false
	}
	wait := c.cfg.told.left(c.sameCall(), c.now())
	if wait == 0 {
		return false
	}
	c.cfg.tally.Stacked(sdk)
	reason := string(decide.AttemptsExhausted)
	c.lane.Refused(reason)
	c.outcome = outcomeRefused
	c.refuse(dialect.Refusal{
		Status: http.StatusTooManyRequests, Reason: reason, RetryAfter: wait,
		Message: "headgate: " + c.cfg.who + ": this call was told to wait, and " + spoken(wait) + " of that are left. " + c.notSent(),
	})
	return true
}
