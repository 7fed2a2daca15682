// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package google

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/anthropic"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/failure"
	"github.com/headgate-dev/headgate/internal/plan"
)

// statuses are the names of gRPC's codes and of the Interactions API, and the HTTP status each is sent with.
var statuses = map[string]int{
	"INVALID_ARGUMENT": 400, "FAILED_PRECONDITION": 400, "OUT_OF_RANGE": 400, "UNAUTHENTICATED": 401,
	"PERMISSION_DENIED": 403, "NOT_FOUND": 404, "ABORTED": 409, "ALREADY_EXISTS": 409, "RESOURCE_EXHAUSTED": 429,
	"CANCELLED": 499, "UNKNOWN": 500, "INTERNAL": 500, "DATA_LOSS": 500, "UNIMPLEMENTED": 501, "UNAVAILABLE": 503,
	"DEADLINE_EXCEEDED": 504,

	"invalid_request": 400, "failed_precondition": 400, "unauthenticated": 401, "authentication_error": 401,
	"payment_required": 402, "permission_denied": 403, "not_found": 404, "rate_limit_exceeded": 429,
	"quota_exceeded": 429, "internal_error": 500, "api_error": 500, "service_unavailable": 503, "overloaded": 503,
	"deadline_exceeded": 504, "timeout": 504,
}

// grpcCodes are the statuses of gRPC's numbers.
var grpcCodes = [...]int{
	200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401,
}

// code is the HTTP status the error itself states, else the response's. A response of 200 that holds an error
// has no better one.
func (e *apiError) code() int {
	if n, err := strconv.Atoi(e.Code); err == nil && n > 0 {
		if n < len(grpcCodes) {
			return grpcCodes[n]
		}
		if n >= http.StatusBadRequest && n < 600 {
			return n
		}
	}
	for _, name := range [...]string{e.Status, e.Code} {
		if n, ok := statuses[name]; ok {
			return n
		}
	}
	return e.status
}

// exhaustedReasons are reasons that no minute cures.
var exhaustedReasons = map[string]bool{
	"QUOTA_EXHAUSTED": true, "INSUFFICIENT_G1_CREDITS_BALANCE": true, "CREDITS_DEPLETED": true,
}

// longQuotas are what the names of quotas hold that are not of a minute.
var longQuotas = [...]string{"perday", "daily", "perweek", "permonth", "1/d/"}

// spent are texts of accounts whose money is gone. "You exceeded your current quota" is none: it is sent for a
// minute's limit too.
var spent = [...]string{"credits are depleted", "credits have been depleted", "spending cap"}

func (e *apiError) class() dialect.Class {
	switch {
	case e.reason == "MODEL_CAPACITY_EXHAUSTED":
		return dialect.ClassOverload
	case exhaustedReasons[e.reason], e.Code == "quota_exceeded":
		return dialect.ClassQuota
	}
	switch code := e.code(); code {
	case http.StatusTooManyRequests:
		return e.limited()
	case http.StatusConflict:
		if e.Status == "ABORTED" {
			return dialect.ClassTransient
		}
		return dialect.ClassPermanent
	case statusCancelled:
		return dialect.ClassTransient // by the server: a client that cancels reads no answer
	default:
		return failure.ByStatus(code)
	}
}

// statusCancelled is what gRPC's CANCELLED is sent with.
const statusCancelled = 499

// limited parts what a minute cures from what it does not.
func (e *apiError) limited() dialect.Class {
	if e.none || e.names(longQuotas[:]...) {
		return dialect.ClassQuota
	}
	lower := strings.ToLower(e.Message)
	for _, s := range spent {
		if strings.Contains(lower, s) {
			return dialect.ClassQuota
		}
	}
	return dialect.ClassThrottle
}

// failure is the error as a dialect tells it. Errors of Anthropic's API, which Vertex AI serves, keep their words.
func (e *apiError) failure() dialect.Failure {
	d := e.Document
	if d.Status == "" && !d.Error.Get("details").Exists() && anthropic.Knows(d.Type) {
		return anthropic.Classified(e.status, d)
	}
	for _, finer := range [...]string{d.Status, e.reason} {
		if finer != "" {
			d.DetailCode = finer
		}
	}
	f := failure.New(e.class(), d)
	f.Budget = e.budget()
	return f
}

// budget is the one budget that all the exceeded quotas are of.
func (e *apiError) budget() string {
	requests, tokens := e.names("requests"), e.names("tokens", "tokencount")
	switch {
	case requests == tokens:
		return ""
	case requests:
		return plan.Requests
	case e.names("input"):
		return plan.InputTokens
	case e.names("output"):
		return plan.OutputTokens
	}
	return plan.Tokens
}
