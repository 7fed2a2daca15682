// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"cmp"
	"fmt"
	"net/http"
)

// xaiProvider writes errors as a string beside their code, and counts reasoning beside the completion.
var xaiProvider = &provider{
	dialect: XAI, find: prefixed("/v1"),
	api: flavour{
		shape: func(_ *call, p problem) any {
			return xaiError{cmp.Or(p.code, "Client specified an invalid argument"), p.message}
		},
		throttled: func(c *call, t throttled) problem {
			return problem{http.StatusTooManyRequests, "", "Some resource has been exhausted", fmt.Sprintf("Too many requests "+
				"for team 00000000-0000-0000-0000-000000000000 and model %s. Your team's rate limit is %s %s per %s. Please see "+
				"https://docs.x.ai/docs/rate-limits for more information.", clip(c.req.Model, maxModelName),
				integer(t.level.Amount), t.level.Budget, longWindow(t.level.Window)), nil}
		},
		spent: always(problem{
			http.StatusForbidden, "", "permission-denied", "Your team 00000000-0000-0000-0000-000000000000 has either used " +
				"all available credits or reached its monthly spending limit. To continue making API requests, please " +
				"purchase more credits or raise your spending limit.", nil,
		}),
		busy: problem{
			http.StatusServiceUnavailable, "", "The service is currently unavailable", "Service temporarily unavailable. The " +
				"model is at capacity and currently cannot serve this request. Please try again later.", nil,
		},
		unauthorized: problem{
			http.StatusBadRequest, "", "Client specified an invalid argument", "Incorrect API key provided: xa***. You can " +
				"obtain an API key from https://console.x.ai.", nil,
		},
	},
	limits:  []Limit{perMinute(Tokens, 400_000)},
	charges: EstimateThenActual, guidance: GuidanceOwn, style: chatStyle{usage: usageLast, reasoningOutside: true},
}

type xaiError struct {
	Code  string `json:"code"`
	Error string `json:"error"`
}
