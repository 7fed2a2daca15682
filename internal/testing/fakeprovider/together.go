// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// togetherProvider counts by the second, and says when to come back on successes too.
var togetherProvider = &provider{
	dialect: Together, find: prefixed("/v1"),
	api: flavour{
		limits: togetherLimits,
		throttled: func(c *call, t throttled) problem {
			perSecond(&t.level)
			return problem{http.StatusTooManyRequests, "model_rate_limit", "", fmt.Sprintf("You have reached the rate limit "+
				"specific to this model %s. The maximum rate limit for this model is %s %s per second.",
				clip(c.req.Model, maxModelName), integer(t.level.Amount), strings.ToLower(string(t.level.Budget))), nil}
		},
		spent: always(problem{
			http.StatusPaymentRequired, "credit_limit", "", "Credit limit exceeded, please navigate to " +
				"https://api.together.ai/settings/billing to update your credit limit.", nil,
		}),
		busy: problem{
			http.StatusServiceUnavailable, "service_unavailable", "", "The server is overloaded or not ready yet.", nil,
		},
		unauthorized: problem{
			http.StatusUnauthorized, "invalid_request_error", "invalid_api_key", "Invalid API key provided. You can find your " +
				"API key at https://api.together.ai/settings/api-keys.", nil,
		},
	},
	limits:  []Limit{{Budget: Tokens, Amount: 6_667, Window: time.Second, Burst: 400_000}},
	charges: EstimateThenActual, guidance: GuidanceSeconds, style: chatStyle{usage: usageLast, plain: true},
}

var togetherReport = report(resetSeconds, limitLine{budget: Requests}, limitLine{budget: Tokens, prefix: "X-Tokenlimit"})

func togetherLimits(h http.Header, c *call, budgets []level) {
	for i := range budgets {
		perSecond(&budgets[i])
	}
	togetherReport(h, c, budgets)
	if reset := h.Get("X-Ratelimit-Reset"); reset != "" && c.status < http.StatusMultipleChoices {
		h.Set("Retry-After", reset)
	}
}

// perSecond reports a bucket as if it were filled anew each second.
func perSecond(b *level) {
	b.Amount /= b.Window.Seconds()
	b.Window = time.Second
	b.remaining = min(b.remaining, b.Amount)
	b.untilFull = min(b.untilFull, time.Second)
}
