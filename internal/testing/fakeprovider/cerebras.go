// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import "net/http"

// cerebrasProvider reserves input and the largest output, and says a wait that is an upper bound.
var cerebrasProvider = &provider{
	dialect: Cerebras, find: prefixed("/v1"),
	api: flavour{
		limits: cerebrasLimits, shape: cerebrasShape, throttled: cerebrasThrottle, broken: cerebrasBroken,
		spent: always(problem{http.StatusPaymentRequired, "payment_required", "payment_required", "Payment required.", nil}),
		busy: problem{
			http.StatusTooManyRequests, "too_many_requests_error", "queue_exceeded", "We're experiencing high traffic right " +
				"now! Please try again soon.", map[string]string{"X-Should-Retry": "false"},
		},
		unauthorized: problem{http.StatusUnauthorized, "invalid_request_error", "wrong_api_key", "Wrong API Key", nil},
	},
	limits:  []Limit{{Budget: Requests, Amount: perDay, Window: day}, perMinute(Tokens, 400_000)},
	charges: MaxAtAdmission, guidance: GuidanceSeconds, style: chatStyle{usage: usageLast},
}

var cerebrasReport = report(resetFraction,
	limitLine{budget: Requests, daily: true, suffix: "Requests-Day"}, limitLine{budget: Tokens, suffix: "Tokens-Minute"})

// cerebrasLimits: refusals carry none.
func cerebrasLimits(h http.Header, c *call, budgets []level) {
	if c.status < http.StatusMultipleChoices {
		cerebrasReport(h, c, budgets)
	}
}

func cerebrasThrottle(_ *call, t throttled) problem {
	p := problem{http.StatusTooManyRequests, "too_many_requests_error", "token_quota_exceeded", "Tokens", nil}
	if t.level.Budget == Requests {
		p.code, p.message = "request_quota_exceeded", "Requests"
	}
	p.message += " per " + longWindow(t.level.Window) + " limit exceeded - too many " + map[bool]string{
		true: "requests sent.", false: "tokens processed.",
	}[t.level.Budget == Requests]
	return p
}

type cerebrasError struct {
	Message string `json:"message"`
	Type    string `json:"type"`
	Param   string `json:"param"`
	Code    string `json:"code"`
}

// cerebrasBroken: inside a stream, where its SDK looks for an error under that name, it is not flat.
func cerebrasBroken(c *call, p problem) any { return map[string]any{"error": cerebrasShape(c, p)} }

// cerebrasShape is flat; param tells a quota from a queue that is full.
func cerebrasShape(_ *call, p problem) any {
	param := ""
	switch p.code {
	case "queue_exceeded":
		param = "queue"
	case "token_quota_exceeded", "request_quota_exceeded":
		param = "quota"
	}
	return cerebrasError{p.message, p.kind, param, p.code}
}
