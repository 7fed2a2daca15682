// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package openai

import (
	"net/http"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/failure"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
	"github.com/headgate-dev/headgate/internal/plan"
)

// ReadFailure implements dialect.Dialect.
func (Dialect) ReadFailure(status int, h http.Header, body []byte, r *dialect.Reading) dialect.Failure {
	d := failure.Read(h, body)
	f := failure.New(Classify(status, d), d)
	f.Budget = Budget(d)
	f.RejectsUsage = failure.RejectsUsage(status, d)
	wait, waits := d.Longest(hint(d))
	guidance.Settle(r, f.Class, wait, waits)
	return f
}

func hint(d failure.Document) (time.Duration, bool) {
	return d.Advice()
}

// classifyEvent classes an error event inside a stream, which has no status of its own.
func classifyEvent(document []byte) dialect.Failure {
	d := failure.Read(nil, document)
	f := failure.New(Classify(EventStatus(d), d), d)
	f.Budget = Budget(d)
	f.RejectsUsage = failure.NamesUsage(d)
	f.Wait, f.Waits = d.Longest(hint(d))
	return f
}

// EventStatus is the status the same error would have had as a response.
func EventStatus(d failure.Document) int {
	switch {
	case strings.HasPrefix(d.Type, "invalid_request"), strings.HasPrefix(d.Code, "invalid_"), d.Code == "context_length_exceeded":
		return http.StatusBadRequest
	case d.Code == "vector_store_timeout", d.Code == "server_error", d.Type == "server_error":
		return http.StatusInternalServerError
	}
	return http.StatusBadGateway
}

// Classify reads machine codes first: the same sentence serves throttles and exhausted quotas.
func Classify(status int, d failure.Document) dialect.Class {
	if quota[d.Code] || quota[d.Type] {
		return dialect.ClassQuota
	}
	switch d.Code {
	case "rate_limit_exceeded", "slow_down":
		return throttle(status, d.Message)
	case "server_is_overloaded", "server_overloaded", "engine_overloaded":
		return dialect.ClassOverload
	}
	if status == http.StatusTooManyRequests && strings.Contains(d.Message, "currently overloaded") {
		return dialect.ClassOverload
	}
	return failure.ByStatus(status)
}

var quota = map[string]bool{
	"insufficient_quota": true, "credit_balance_exhausted": true, "billing_hard_limit_reached": true,
	"billing_not_active": true, "organization_spend_limit_exceeded": true, "project_spend_limit_exceeded": true,
	"organization_usage_limit_exceeded": true,
}

// throttle parts what has one code: a call larger than the limit itself, and limits of a day.
func throttle(status int, message string) dialect.Class {
	switch {
	case status == http.StatusRequestEntityTooLarge:
		return dialect.ClassPermanent
	case strings.HasPrefix(message, "Request too large") && !strings.Contains(message, "Used "):
		return dialect.ClassPermanent
	case strings.Contains(message, "(RPD)"), strings.Contains(message, "(TPD)"):
		return dialect.ClassQuota
	}
	return dialect.ClassThrottle
}

// Budget is the budget a refusal names: its type, or the abbreviation in its message.
func Budget(d failure.Document) string {
	switch {
	case d.Type != "tokens" && failure.AtOnce(d): // requests at once are of type requests, too
		return plan.InFlight
	case d.Type == "requests", strings.Contains(d.Message, "(RPM)"), strings.Contains(d.Message, "(RPD)"):
		return plan.Requests
	case d.Type == "tokens", strings.Contains(d.Message, "(TPM)"), strings.Contains(d.Message, "(TPD)"):
		return plan.Tokens
	}
	return ""
}
