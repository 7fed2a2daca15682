// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package baseline

import (
	"time"

	"github.com/headgate-dev/headgate/internal/simulate/world"
)

// The defaults of the official Python and TypeScript SDKs of OpenAI and Anthropic, which one generator makes. In
// openai-python and anthropic-sdk-python they are DEFAULT_MAX_RETRIES, INITIAL_RETRY_DELAY and MAX_RETRY_DELAY of
// _constants.py, and what _calculate_retry_timeout of _base_client.py does with them: a Retry-After above zero and up
// to a minute is waited exactly; else 0.5 s·2ⁿ, at most 8 s, of which up to a quarter is taken off at random.
const (
	sdkRetries = 2
	sdkBase    = 500 * time.Millisecond
	sdkCap     = 8 * time.Second
	sdkJitter  = 0.25
	sdkHonours = time.Minute
)

// Exponential is apps without a gateway, whose SDKs retry. The SDK knows of no deadline; the app does, and gives up
// while the SDK waits.
type Exponential struct{ w *world.World }

// Offer implements world.Client.
func (e *Exponential) Offer(c *world.Call) { e.send(c, 0) }

func (e *Exponential) send(c *world.Call, retries int) {
	e.w.Send(c, c.Route, &sent{w: e.w, c: c, refused: func(a *world.Answer) {
		if retries == sdkRetries {
			e.w.End(c, world.Outcome{Kind: world.Failed, Reason: status(a), Final: true})
			return
		}
		wait := delay(a, retries, e.w.Chance())
		if left := c.Deadline().Sub(e.w.Now()); !c.Deadline().IsZero() && wait >= left {
			e.w.After(left, func() {
				e.w.End(c, world.Outcome{Kind: world.Failed, Reason: world.ReasonLate, Final: true})
			})
			return
		}
		e.w.After(wait, func() { e.send(c, retries+1) })
	}})
}

// delay is how long an SDK waits before a retry; draw is from [0, 1).
func delay(a *world.Answer, retries int, draw float64) time.Duration {
	if a.Waits && a.RetryAfter > 0 && a.RetryAfter <= sdkHonours {
		return a.RetryAfter
	}
	wait := min(sdkCap, sdkBase<<retries)
	return wait - time.Duration(sdkJitter*draw*float64(wait))
}
