// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package azureopenai

import (
	"net/http"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/compatible"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/openai"
	"github.com/headgate-dev/headgate/internal/plan"
)

// New returns Azure's dialect.
func New() Dialect {
	return Dialect{compatible.Dialect{Spec: compatible.Spec{
		Name: "AzureOpenAI", Path: path, Below: below,
		Buckets: []guidance.Triple{
			compatible.Bucket(plan.Requests, "", "Requests", time.Minute),
			compatible.Bucket(plan.Tokens, "", "Tokens", time.Minute),
		},
		Headers: func(_ int, h http.Header, r *dialect.Reading) { compatible.RenewalPeriods(h, r) },
		Operations: map[string]dialect.Operation{
			"extensions/chat/completions": {Name: "chat", Format: dialect.FormatChat, Metered: true},
			"messages":                    compatible.Messages,
			"messages/count_tokens":       {Name: "other", Free: true},
		},
		Classify: classify, Hint: hint,
	}}}
}

func classify(f compatible.Failed) dialect.Class {
	switch {
	case f.Says("out of call volume quota"):
		return dialect.ClassQuota // API Management's 403: the key is right, its allowance is spent
	case f.Status != http.StatusTooManyRequests:
	case f.Says("high demand"), f.Document.Code == "NoCapacity":
		return dialect.ClassOverload
	}
	return openai.Classify(f.Status, f.Document)
}

func hint(f compatible.Failed, _ time.Time) (time.Duration, bool) {
	wait, ok := guidance.Hint(f.Document.Message, "try again in ", "retry after ")
	if until, stated := replenished(f.Document.Message); stated {
		return max(wait, until), true
	}
	return wait, ok
}
