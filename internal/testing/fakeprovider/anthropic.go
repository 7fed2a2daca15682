// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"fmt"
	"net/http"
	"time"
)

// anthropicAPI is what is said around an answer of the Anthropic API.
type anthropicAPI struct{}

type anthropicError struct {
	Type      string             `json:"type"`
	Error     anthropicErrorBody `json:"error"`
	RequestID string             `json:"request_id"`
}

type anthropicErrorBody struct {
	Type    string            `json:"type"`
	Message string            `json:"message"`
	Details map[string]string `json:"details,omitempty"`
}

func (c *call) anthropicErr(kind, message string) anthropicError {
	return anthropicError{"error", anthropicErrorBody{Type: kind, Message: message}, c.id}
}

func (anthropicAPI) requestID(n uint64) (header, id string) { return "Request-Id", reqID(n) }

// limitHeaders: resets are when the bucket will be full, as RFC 3339 on the provider's own clock.
func (anthropicAPI) limitHeaders(h http.Header, c *call, budgets []level) {
	h.Set("Anthropic-Organization-Id", organization)
	for _, b := range withTokensTotal(budgets) {
		name := anthropicNames[b.Budget]
		h.Set("Anthropic-Ratelimit-"+name+"-Limit", integer(b.Amount))
		h.Set("Anthropic-Ratelimit-"+name+"-Remaining", c.remaining(b))
		h.Set("Anthropic-Ratelimit-"+name+"-Reset", resetAt(c.s.clock(), b.untilFull))
	}
}

var anthropicNames = map[Budget]string{
	Requests: "Requests", Tokens: "Tokens", InputTokens: "Input-Tokens", OutputTokens: "Output-Tokens",
}

// withTokensTotal adds the tokens figures, which are input and output together where no limit of that
// name is in force.
func withTokensTotal(budgets []level) []level {
	total := level{Limit: Limit{Budget: Tokens}}
	parts := 0
	for _, b := range budgets {
		switch b.Budget {
		case Tokens:
			return budgets
		case InputTokens, OutputTokens:
			parts++
			total.Amount += b.Amount
			total.remaining += max(0, b.remaining)
			total.untilFull = max(total.untilFull, b.untilFull)
		case Requests:
		}
	}
	if parts < 2 {
		return budgets
	}
	return append(budgets, total)
}

// resetAt is a time in whole seconds, rounded up.
func resetAt(now time.Time, in time.Duration) string {
	at := now.Add(in).UTC()
	if whole := at.Truncate(time.Second); whole.Before(at) {
		at = whole.Add(time.Second)
	}
	return at.Format(time.RFC3339)
}

func (anthropicAPI) throttle(c *call, t throttled) (int, any) {
	what := map[Budget]string{
		Requests: "requests", Tokens: "tokens", InputTokens: "input tokens", OutputTokens: "output tokens",
	}[t.level.Budget]
	c.w.Header().Set("X-Should-Retry", "true")
	return http.StatusTooManyRequests, c.anthropicErr("rate_limit_error", fmt.Sprintf("This request would exceed your organization's rate limit "+
		"of %s %s per %s (org: %s, model: %s). For details, refer to: https://docs.claude.com/en/api/rate-limits. "+
		"You can see the response headers for current usage. Please reduce the prompt length or the maximum "+
		"tokens requested, or try again later.",
		thousands(int64(t.level.Amount)), what, longWindow(t.level.Window), organization, c.req.Model))
}

func longWindow(d time.Duration) string {
	short, _ := windowName(d)
	return map[string]string{"sec": "second", "min": "minute", "hour": "hour", "day": "day"}[short]
}

// thousands writes 400000 as 400,000.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func (anthropicAPI) fault(c *call, status int, message string) (int, any) {
	return status, c.anthropicFault(status, message)
}

func (c *call) anthropicFault(status int, message string) anthropicError {
	switch {
	case status == http.StatusUnauthorized:
		return c.anthropicErr("authentication_error", "invalid x-api-key")
	case status == http.StatusPaymentRequired:
		return c.anthropicErr("billing_error", message)
	case status == http.StatusForbidden:
		return c.anthropicErr("permission_error", message)
	case status == http.StatusNotFound && c.op != nil:
		return c.anthropicErr("not_found_error", "model: "+clip(message, maxModelName))
	case status == http.StatusNotFound:
		return c.anthropicErr("not_found_error", "Not Found")
	case status == http.StatusRequestEntityTooLarge:
		return c.anthropicErr("request_too_large", message)
	case status == http.StatusTooManyRequests:
		return c.anthropicErr("rate_limit_error", "This request would exceed your account's rate limit.")
	case status == statusOverloaded:
		return c.anthropicErr("overloaded_error", "Overloaded")
	case status == http.StatusGatewayTimeout:
		return c.anthropicErr("timeout_error", "Request timed out")
	case status >= http.StatusInternalServerError:
		return c.anthropicErr("api_error", "Internal server error")
	default:
		return c.anthropicErr("invalid_request_error", message)
	}
}

// statusOverloaded is Anthropic's own.
const statusOverloaded = 529

func (anthropicAPI) quota(c *call) (int, any) {
	return http.StatusBadRequest, c.anthropicErr("invalid_request_error", "Your credit balance is too low to access "+
		"the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.")
}

func (anthropicAPI) overload(c *call) (int, any) {
	c.w.Header().Set("X-Should-Retry", "true")
	return statusOverloaded, c.anthropicErr("overloaded_error", "Overloaded")
}

func (anthropicAPI) streamError(c *call) []event {
	return []event{{name: "error", data: c.anthropicErr("overloaded_error", "Overloaded")}}
}
