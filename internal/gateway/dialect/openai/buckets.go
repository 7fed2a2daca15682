// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package openai

import (
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Buckets are the headers of the account's buckets and of a project's own ceiling. The usage-based variant
// repeats the tokens in another count and is left out. Some models' requests are per day, which no header says.
var Buckets = []guidance.Triple{
	{
		Budget: plan.Requests, Limit: "X-Ratelimit-Limit-Requests", Remaining: "X-Ratelimit-Remaining-Requests",
		Reset: "X-Ratelimit-Reset-Requests", Window: time.Minute,
	},
	{
		Budget: plan.Tokens, Limit: "X-Ratelimit-Limit-Tokens", Remaining: "X-Ratelimit-Remaining-Tokens",
		Reset: "X-Ratelimit-Reset-Tokens", Window: time.Minute,
	},
	{
		Budget: plan.Tokens, Bucket: "project", Limit: "X-Ratelimit-Limit-Project-Tokens",
		Remaining: "X-Ratelimit-Remaining-Project-Tokens", Reset: "X-Ratelimit-Reset-Project-Tokens", Window: time.Minute,
	},
}
