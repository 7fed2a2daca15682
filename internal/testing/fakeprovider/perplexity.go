// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import "net/http"

// perplexityProvider says nothing of limits; each piece of a stream says what was used so far.
var perplexityProvider = &provider{
	dialect: Perplexity, find: prefixed("", "/v1"),
	api: flavour{
		shape: func(_ *call, p problem) any { return numberedError{numbered{p.message, p.kind, p.status}} },
		throttled: func(*call, throttled) problem {
			return problem{
				http.StatusTooManyRequests, "request_rate_limit_exceeded", "", "Request rate limit exceeded, please try again " +
					"later.", nil,
			}
		},
		spent: always(problem{
			http.StatusPaymentRequired, "insufficient_quota", "", "You exceeded your current quota, please check your plan " +
				"and billing details.", nil,
		}),
		busy:         problem{http.StatusServiceUnavailable, "service_unavailable", "", "Service unavailable", nil},
		unauthorized: problem{http.StatusUnauthorized, "invalid_api_key", "", "Invalid API key provided.", nil},
	},
	charges: EstimateThenActual, guidance: GuidanceOwn, style: chatStyle{usage: usageEach, plain: true},
}

// numberedError is an error whose code is its status.
type numberedError struct {
	Error numbered `json:"error"`
}

type numbered struct {
	Message string `json:"message"`
	Type    string `json:"type"`
	Code    int    `json:"code"`
}
