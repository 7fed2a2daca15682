// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package anthropic

import (
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
	"github.com/headgate-dev/headgate/internal/plan"
)

// tokenStep is what remaining tokens are rounded to.
const tokenStep = 1000

// buckets are the headers of the account's buckets; tokens is the most restrictive limit in force.
var buckets = []guidance.Triple{
	triple(plan.Requests, "", "Anthropic-Ratelimit-Requests", 1),
	triple(plan.InputTokens, "", "Anthropic-Ratelimit-Input-Tokens", tokenStep),
	triple(plan.OutputTokens, "", "Anthropic-Ratelimit-Output-Tokens", tokenStep),
	triple(plan.Tokens, "", "Anthropic-Ratelimit-Tokens", tokenStep),
	triple(plan.InputTokens, "priority", "Anthropic-Priority-Input-Tokens", tokenStep),
	triple(plan.OutputTokens, "priority", "Anthropic-Priority-Output-Tokens", tokenStep),
	triple(plan.InputTokens, "fast", "Anthropic-Fast-Input-Tokens", tokenStep),
	triple(plan.OutputTokens, "fast", "Anthropic-Fast-Output-Tokens", tokenStep),
}

func triple(budget, bucket, prefix string, step float64) guidance.Triple {
	return guidance.Triple{
		Budget: budget, Bucket: bucket, Limit: prefix + "-Limit", Remaining: prefix + "-Remaining",
		Reset: prefix + "-Reset", RoundedTo: step, Window: time.Minute,
	}
}
