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
		Headers: headers,
		Operations: map[string]dialect.Operation{
			"extensions/chat/completions": {Name: "chat", Format: dialect.FormatChat, Metered: true},
			"messages":                    compatible.Messages,
			"messages/count_tokens":       compatible.CountTokens,
		},
		Classify: classify, Hint: hint,
	}}}
}

// headers keeps a bucket of requests apart unless its window is stated. Azure counts requests by the second or by ten
// of them and reports that part of the minute's limit: calls paced as if it were the whole would be six times
// too slow.
func headers(_ int, h http.Header, r *dialect.Reading) {
	compatible.RenewalPeriods(h, r)
	if _, stated := compatible.HeaderSeconds(h, "X-Ratelimit-Renewalperiod-Requests"); stated {
		return
	}
	for i := range r.Budgets {
		if r.Budgets[i].Budget == plan.Requests && r.Budgets[i].Bucket == "" {
			r.Budgets[i].Bucket = "interval"
		}
	}
}

func classify(f compatible.Failed) dialect.Class {
	switch {
	case f.Status == http.StatusForbidden && f.Says("quota") && f.Says("out of", "exceeded"):
		return dialect.ClassQuota // API Management's: the key is right, its allowance is spent
	case f.Status != http.StatusTooManyRequests:
	case f.Says("high demand"), f.Document.Code == "NoCapacity":
		return dialect.ClassOverload
	}
	return openai.Classify(f.Status, f.Document)
}

func hint(f compatible.Failed, _ time.Time) (time.Duration, bool) {
	wait, ok := f.Document.Advice()
	if until, stated := replenished(f.Document.Message); stated {
		return max(wait, until), true
	}
	return wait, ok
}
