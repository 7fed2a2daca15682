// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/admission"
)

// declined ends a call that admission refused.
func (c *call) declined(v admission.Verdict) {
	c.countTooLarge(v)
	if c.elsewhere(string(v.Reason), v.Wait) {
		return
	}
	c.refuseAdmission(v)
}

// giveUp ends a call that is not sent again, with the provider's answer still in hand.
func (c *call) giveUp(resp *http.Response, last final, wait time.Duration) *again {
	if last.ours && c.elsewhere(last.reason, max(wait, last.wait)) {
		return nil
	}
	last.reason = c.spokenReason(last.reason)
	return c.passOn(resp, last, wait)
}

// elsewhere tries what else the policy provides for a call that cannot be made here in time, and says whether
// the call has its answer by that. Nothing has been passed to the client, and no reservation is held. A call that came
// here from elsewhere goes nowhere else; and a client that has heard of a stream cannot be told where to find its answer.
func (c *call) elsewhere(reason string, wait time.Duration) bool {
	c.stays()
	return c.from == nil && (c.failOver(reason, wait) || !c.spoke() && c.putOff(reason, wait))
}
