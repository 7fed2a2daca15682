// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package anthropic

import (
	"net/http"
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/failure"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
	"github.com/headgate-dev/headgate/internal/plan"
)

// ReadFailure implements dialect.Dialect.
func (Dialect) ReadFailure(status int, h http.Header, body []byte, r *dialect.Reading) dialect.Failure {
	d := failure.Read(h, body)
	class := classify(status, d)
	if class == dialect.ClassThrottle && h.Get(unifiedStatus) == rejected {
		class = dialect.ClassQuota // a window of hours or days is used up
	}
	f := failure.New(class, d)
	f.Budget = budget(d)
	hint, hinted := guidance.DateHint(d.Message, "regain access on", r.Reference)
	hint, hinted = d.Longest(hint, hinted)
	guidance.Settle(r, f.Class, hint, hinted)
	return f
}

// ClassifyEvent classes an error event inside a stream; its type says all.
func ClassifyEvent(document []byte) dialect.Failure {
	return Classified(http.StatusInternalServerError, failure.Read(nil, document))
}

// Classified is a failure in Anthropic's words, which those have too that serve its API themselves.
func Classified(status int, d failure.Document) dialect.Failure {
	f := failure.New(classify(status, d), d)
	f.Budget = budget(d)
	f.Wait, f.Waits = d.Wait, d.Waits
	return f
}

// Knows reports whether kind is the type of an error of this API.
func Knows(kind string) bool {
	switch kind {
	case "rate_limit_error", "overloaded_error", "api_error", "timeout_error", "invalid_request_error",
		"authentication_error", "permission_error", "not_found_error", "request_too_large":
		return true
	}
	return quota[kind]
}

func classify(status int, d failure.Document) dialect.Class {
	if quota[d.DetailCode] || quota[d.Type] {
		return dialect.ClassQuota
	}
	switch d.Type {
	case "rate_limit_error":
		if strings.Contains(d.Message, "Extra usage is required") {
			return dialect.ClassPermanent // long context needs another plan, not time
		}
		if strings.Contains(d.Message, "daily rate limit") {
			return dialect.ClassQuota
		}
		return dialect.ClassThrottle
	case "overloaded_error":
		return dialect.ClassOverload
	case "api_error", "timeout_error":
		return dialect.ClassTransient
	case "invalid_request_error":
		return invalid(d.Message)
	case "authentication_error", "permission_error", "not_found_error", "request_too_large":
		return dialect.ClassPermanent
	}
	return failure.ByStatus(status)
}

var quota = map[string]bool{
	"enforced_spend_limit_reached": true, "out_of_credits": true, "billing_error": true,
}

// invalid parts spent money from wrong requests, which have one type.
func invalid(message string) dialect.Class {
	for _, text := range [...]string{"credit balance is too low", "specified API usage limits", "specified workspace API usage limits"} {
		if strings.Contains(message, text) {
			return dialect.ClassQuota
		}
	}
	return dialect.ClassPermanent
}

// budget is the budget a refusal names.
func budget(d failure.Document) string {
	switch {
	case failure.AtOnce(d):
		return plan.InFlight
	case strings.Contains(d.Message, "input tokens per"):
		return plan.InputTokens
	case strings.Contains(d.Message, "output tokens per"):
		return plan.OutputTokens
	case strings.Contains(d.Message, "requests per"):
		return plan.Requests
	case strings.Contains(d.Message, "tokens per"):
		return plan.Tokens
	}
	return ""
}
