// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import "net/http"

// fireworksProvider reports what is left, but never when there will be more.
var fireworksProvider = &provider{
	dialect: Fireworks, find: prefixed("/inference/v1"),
	api: flavour{
		limits: fireworksLimits,
		throttled: func(*call, throttled) problem {
			return problem{http.StatusTooManyRequests, "rate_limit_error", "", "Rate limit exceeded.", nil}
		},
		spent: always(problem{
			http.StatusPreconditionFailed, "error", "PRECONDITION_FAILED", "Account fake is suspended, possibly due to " +
				"reaching the monthly spending limit or failure to pay past invoices. Please go to " +
				"https://fireworks.ai/account/billing for more information.", nil,
		}),
		busy: problem{http.StatusServiceUnavailable, "error", "SERVICE_UNAVAILABLE", "Service overloaded.", nil},
		unauthorized: problem{
			http.StatusUnauthorized, "error", "UNAUTHORIZED", "The API key you provided is invalid.", nil,
		},
	},
	limits:  []Limit{perMinute(InputTokens, 400_000), perMinute(OutputTokens, 80_000)},
	charges: EstimateThenActual, guidance: GuidanceOwn, style: chatStyle{usage: usageLast, plain: true},
}

var fireworksReport = report(nil,
	limitLine{budget: Requests, suffix: "Requests"}, limitLine{budget: InputTokens, suffix: "Tokens-Prompt"},
	limitLine{budget: InputTokens, suffix: "Tokens-Cache-Adjusted-Prompt"},
	limitLine{budget: OutputTokens, suffix: "Tokens-Generated"})

func fireworksLimits(h http.Header, c *call, budgets []level) {
	fireworksReport(h, c, budgets)
	h.Set("X-Ratelimit-Over-Limit", "no")
	for _, b := range budgets {
		if b.remaining < 1 {
			h.Set("X-Ratelimit-Over-Limit", "yes")
		}
	}
}
