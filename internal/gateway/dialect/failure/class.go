// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package failure

import (
	"net/http"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// statusOverloaded is what Anthropic and those that follow it answer when they lack capacity.
const statusOverloaded = 529

// ByStatus classes a response by its status alone.
func ByStatus(status int) dialect.Class {
	switch status {
	case http.StatusTooManyRequests:
		return dialect.ClassThrottle
	case http.StatusServiceUnavailable, statusOverloaded:
		return dialect.ClassOverload
	case http.StatusPaymentRequired:
		return dialect.ClassQuota
	case http.StatusRequestTimeout, http.StatusTooEarly:
		return dialect.ClassTransient
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return dialect.ClassPermanent
	}
	switch {
	case status >= 200 && status < 300:
		return dialect.ClassSuccess
	case status >= 500:
		return dialect.ClassTransient
	}
	return dialect.ClassPermanent
}

// spent are codes that mean money or credit that is gone with everyone who sends them, also where they come through the
// API of another: proxies hand on the codes of the provider behind them, with whatever status.
var spent = map[string]bool{
	"insufficient_quota": true, "credit_balance_exhausted": true, "billing_hard_limit_reached": true, "billing_not_active": true,
	"organization_spend_limit_exceeded": true, "project_spend_limit_exceeded": true, "organization_usage_limit_exceeded": true,
	"billing_error": true, "out_of_credits": true, "enforced_spend_limit_reached": true,
	"exceeded_current_quota_error": true, "insufficient_balance": true, "insufficient_credits": true,
	"budget_exceeded": true, "Arrearage": true, "AccountOverdueError": true,
}

// spentWords say the same where a refusal has no such code; they are in lower case.
var spentWords = [...]string{"insufficient balance", "insufficient credit", "insufficient funds", "budget has been exceeded"}

// busy are parts of codes that mean a lack of capacity, not of an allowance, with whatever status.
var busy = [...]string{"overload", "resource_unavailable", "nocapacity"}

// maxProse bounds the prose that is searched.
const maxProse = 4 << 10

// New makes a failure fit to be shown.
func New(class dialect.Class, d Document) dialect.Failure {
	switch {
	case spent[d.Code] || spent[d.Type] || spent[d.DetailCode]:
		class = dialect.ClassQuota
	case class != dialect.ClassThrottle:
	case holds(d.Message, spentWords[:]):
		class = dialect.ClassQuota
	case holds(d.Code, busy[:]), holds(d.Type, busy[:]):
		class = dialect.ClassOverload
	}
	return dialect.Failure{Class: class, Code: code(d), Message: Message(d.Message)}
}

// holds reports whether a text holds one of parts, in any case.
func holds(text string, parts []string) bool {
	text = strings.ToLower(text[:min(len(text), maxProse)])
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

const maxCode = 64

// code is the most exact of the codes; a type says little where there is a code.
func code(d Document) string {
	for _, c := range []string{d.DetailCode, d.Code, d.Type} {
		if c == "" {
			continue
		}
		c = Message(c)
		return c[:min(len(c), maxCode)]
	}
	return ""
}

// RejectsUsage reports whether a request failed because of stream_options, which its provider does not know.
func RejectsUsage(status int, d Document) bool {
	if status != http.StatusBadRequest && status != http.StatusUnprocessableEntity {
		return false
	}
	return NamesUsage(d)
}

// NamesUsage reports whether an error speaks of stream_options. Inside a stream, where it has no status, that is all there
// is to tell that it is about them.
func NamesUsage(d Document) bool {
	text := string(d.Text)
	return strings.Contains(text, "stream_options") || strings.Contains(text, "include_usage")
}
