// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"net/http"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// Read reads the guidance and the budgets of a response. A success may advise a wait; that is no order.
func Read(status int, h http.Header, received time.Time, tables ...[]Triple) dialect.Reading {
	r := dialect.Reading{Source: dialect.SourceNone, ShouldRetry: shouldRetry(h), Reference: Reference(h, received)}
	if status < 200 || status >= 300 {
		r.RetryAfter, r.Source, r.Malformed = RetryAfter(h, r.Reference)
	}
	for _, table := range tables {
		budgets, malformed := Budgets(h, table, r.Reference)
		r.Budgets = join(r.Budgets, budgets)
		r.Malformed = first(r.Malformed, malformed)
	}
	budgets, malformed := IETF(h)
	r.Budgets = join(r.Budgets, budgets)
	r.Malformed = first(r.Malformed, malformed)
	return r
}

func join(a, b []dialect.BudgetReading) []dialect.BudgetReading {
	if len(a) == 0 {
		return b
	}
	return append(a, b...)
}

func shouldRetry(h http.Header) string {
	switch lines := h["X-Should-Retry"]; {
	case len(lines) == 0:
		return ""
	case lines[0] == "true" || lines[0] == "false":
		return lines[0]
	}
	return ""
}

// Settle adds a body's hint to what the headers said, where they rank below it, and removes every wait from
// a failure that has none. After it RetryAfter holds the wait whatever its source is.
func Settle(r *dialect.Reading, class dialect.Class, hint time.Duration, hinted bool) {
	if r.Source == dialect.SourceNone || r.Source == "" {
		r.Source = dialect.SourceNone
		if hinted {
			r.RetryAfter, r.Source = hint, dialect.SourceBody
		}
	}
	wait, source, _ := r.Wait(class)
	r.RetryAfter, r.Source = wait, source
}
