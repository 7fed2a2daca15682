// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package openrouter

import (
	"net/http"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/compatible"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/failure"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
	"github.com/headgate-dev/headgate/internal/plan"
)

// buckets are sent with OpenRouter's own refusals alone; which window they have, the message says.
var buckets = []guidance.Triple{{
	Budget: plan.Requests, Limit: "X-Ratelimit-Limit", Remaining: "X-Ratelimit-Remaining", Reset: "X-Ratelimit-Reset",
}}

// Dialect is OpenRouter's.
var Dialect = compatible.Dialect{Spec: compatible.Spec{
	Name: "OpenRouter", Version: "/api/v1",
	Operations: compatible.Anthropic,
	Buckets:    buckets,
	Complete:   complete,
	Classify:   classify,
	Hint:       hint,
}}

// classify parts the three kinds of 402 and the two of 429. What its providers fail with may pass by itself.
func classify(f compatible.Failed) dialect.Class {
	switch f.Status {
	case http.StatusPaymentRequired:
		return payment(f)
	case http.StatusTooManyRequests:
		if window(f) >= compatible.Day {
			return dialect.ClassQuota
		}
	}
	return failure.ByStatus(f.Status)
}

func payment(f compatible.Failed) dialect.Class {
	switch {
	case f.Document.Error.Get("metadata.reason").Str == "weight_exceeds_budget":
		return dialect.ClassPermanent // this call alone is more than there is
	case f.Document.Error.Get("metadata.limit_source").Str == "openrouter_in_flight_budget":
		return dialect.ClassThrottle // other calls in flight hold the credits
	}
	return dialect.ClassQuota
}

// window is that of the free models' limits, which only their names tell.
func window(f compatible.Failed) time.Duration {
	switch {
	case f.Says("free-models-per-day", "per-day"):
		return compatible.Day
	case f.Says("free-models-per-min", "per-min"):
		return time.Minute
	}
	return 0
}

// complete gives the bucket its window. Where a proxy took the headers away, the body has a copy.
func complete(f *compatible.Failed, r *dialect.Reading) {
	if len(r.Budgets) == 0 {
		r.Budgets, _ = guidance.Budgets(f.Copied("metadata.headers"), buckets, r.Reference)
	}
	for i := range r.Budgets {
		if r.Budgets[i].Window == 0 {
			r.Budgets[i].Window = window(*f)
		}
	}
}

// hint is in the metadata; prose of the provider behind is quoted there too.
func hint(f compatible.Failed, reference time.Time) (wait time.Duration, ok bool) {
	wait, ok = compatible.SecondsOf(f.Document.Error.Get("metadata.retry_after_seconds"))
	if said, source, _ := guidance.RetryAfter(f.Copied("metadata.headers"), reference); source != dialect.SourceNone {
		wait, ok = max(wait, said), true
	}
	f.Document.Waits = f.Document.Waits || ok // this copy's: a header that is quoted says as much as a member
	if said, found := f.Document.Advice(f.Document.Error.Get("metadata.raw").Str); found {
		wait, ok = max(wait, said), true
	}
	return wait, ok
}
