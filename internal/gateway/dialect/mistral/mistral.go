// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package mistral

import (
	"net/http"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/compatible"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/failure"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Dialect is Mistral's. Its streams report usage by themselves, and it refuses members it does not know.
var Dialect = compatible.Dialect{Spec: compatible.Spec{
	Name: "Mistral", Version: "/v1", NoUsageOption: true,
	Operations: map[string]dialect.Operation{
		"fim/completions":    {Name: "completions", Format: dialect.FormatChat, Metered: true},
		"agents/completions": {Name: "chat", Format: dialect.FormatChat, Metered: true},
	},
	Buckets: []guidance.Triple{
		compatible.Bucket(plan.Requests, "", "Req-Minute", time.Minute),
		compatible.Bucket(plan.Tokens, "", "Tokens-Minute", time.Minute),
		compatible.Bucket(plan.Tokens, "month", "Tokens-Month", compatible.Month),
		// The older names, which count tokens and are sent for some models.
		{
			Budget: plan.Tokens, Limit: "Ratelimitbysize-Limit", Remaining: "Ratelimitbysize-Remaining",
			Reset: "Ratelimitbysize-Reset", Window: time.Minute,
		},
		{
			Budget: plan.Tokens, Limit: "X-Ratelimitbysize-Limit-Minute", Remaining: "X-Ratelimitbysize-Remaining-Minute",
			Window: time.Minute,
		},
		{
			Budget: plan.Tokens, Bucket: "month", Limit: "X-Ratelimitbysize-Limit-Month",
			Remaining: "X-Ratelimitbysize-Remaining-Month", Window: compatible.Month,
		},
	},
	Headers:  once,
	Classify: classify,
}}

// once keeps the first reading of each bucket: older and newer names may stand side by side.
func once(_ int, _ http.Header, r *dialect.Reading) {
	kept := r.Budgets[:0]
	for _, b := range r.Budgets {
		known := false
		for _, k := range kept {
			known = known || k.Budget == b.Budget && k.Bucket == b.Bucket
		}
		if !known {
			kept = append(kept, b)
		}
	}
	r.Budgets = kept
}

func classify(f compatible.Failed) dialect.Class {
	if f.Status != http.StatusTooManyRequests {
		return failure.ByStatus(f.Status)
	}
	switch {
	case f.Document.Code == "3505", f.Document.Type == "service_tier_capacity_exceeded":
		return dialect.ClassOverload
	case f.Forbidden(), f.Exhausted():
		return dialect.ClassQuota
	}
	return dialect.ClassThrottle
}
