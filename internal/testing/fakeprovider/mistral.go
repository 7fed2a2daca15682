// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"net/http"
	"strconv"
)

var mistralProvider = &provider{
	dialect: Mistral,
	find: func(method, path string) target {
		if method == http.MethodPost && path == "/v1/fim/completions" {
			return target{op: &fimOperation}
		}
		return prefixed("/v1")(method, path)
	},
	api: flavour{
		limits: mistralLimits, shape: mistralShape,
		throttled: func(*call, throttled) problem {
			return problem{http.StatusTooManyRequests, "rate_limited", "1300", "Rate limit exceeded", nil}
		},
		spent: always(problem{http.StatusPaymentRequired, "payment_required", "1910", "Payment required", nil}),
		busy: problem{
			http.StatusTooManyRequests, "service_tier_capacity_exceeded", "3505",
			"Service tier capacity exceeded for this model.", nil,
		},
		unauthorized: problem{status: http.StatusUnauthorized, message: "Unauthorized"},
	},
	limits:  []Limit{perMinute(Tokens, 400_000)},
	charges: EstimateThenActual, guidance: GuidanceOwn,
	style: chatStyle{usage: usageLast, plain: true},
}

// fimOperation completes a text between a prompt and a suffix, and answers like chat.
var fimOperation = operation{name: "completions", valid: validPrompt, answer: chatAnswer, stream: chatStream}

// mistralLimits: streams carry none.
func mistralLimits(h http.Header, c *call, budgets []level) {
	if c.req.Stream {
		return
	}
	for _, b := range budgets {
		name := map[Budget]string{Requests: "Req", Tokens: "Tokens"}[b.Budget]
		if name == "" {
			continue
		}
		window, _ := windowName(b.Window)
		name += "-" + map[string]string{"min": "Minute", "hour": "Hour", "sec": "Second", "day": "Day"}[window]
		h.Set("X-Ratelimit-Limit-"+name, integer(b.Amount))
		h.Set("X-Ratelimit-Remaining-"+name, c.remaining(b))
	}
	h.Set("X-Ratelimit-Tokens-Query-Cost", strconv.FormatInt(c.size.input+c.output(), 10))
}

type mistralError struct {
	Object  string  `json:"object"`
	Message any     `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    string  `json:"code"`
}

type mistralDetail struct {
	Detail string `json:"detail"`
}

// mistralShape: a key that is not good is refused before the API proper.
func mistralShape(_ *call, p problem) any {
	if p.status == http.StatusUnauthorized {
		return mistralDetail{p.message}
	}
	return mistralError{"error", p.message, p.kind, nil, p.code}
}
