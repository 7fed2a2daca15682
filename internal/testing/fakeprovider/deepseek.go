// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import "net/http"

// deepSeekProvider says nothing of limits, and keeps a stream alive with comments.
var deepSeekProvider = &provider{
	dialect: DeepSeek, find: prefixed("", "/v1", "/beta"),
	api: flavour{
		limits: nil,
		throttled: func(*call, throttled) problem {
			return problem{
				http.StatusTooManyRequests, "rate_limit_error", "rate_limit_reached", "Rate limit reached. You are sending " +
					"requests too quickly.", nil,
			}
		},
		spent: always(problem{
			http.StatusPaymentRequired, "unknown_error", "invalid_request_error", "Insufficient Balance", nil,
		}),
		busy: problem{
			http.StatusServiceUnavailable, "service_unavailable_error", "service_unavailable", "Service is too busy. We advise " +
				"users to temporarily switch to alternative LLM API service providers.", nil,
		},
		unauthorized: problem{
			http.StatusUnauthorized, "authentication_error", "invalid_request_error", "Authentication Fails, Your api key is " +
				"invalid", nil,
		},
	},
	limits:  []Limit{perMinute(Tokens, 400_000)},
	charges: EstimateThenActual, guidance: GuidanceOwn,
	style: chatStyle{usage: usageLast, comment: "keep-alive", cacheHits: true},
}
