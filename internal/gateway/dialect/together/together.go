// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package together

import (
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect/compatible"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Dialect is Together AI's. Calls are paced by the account's limits; the dynamic ones beside them, which tell what is
// let through at the moment, are shown alone.
var Dialect = compatible.Dialect{Spec: compatible.Spec{
	Name: "Together", Version: "/v1",
	Buckets: []guidance.Triple{
		{
			Budget: plan.Requests, Limit: "X-Ratelimit-Limit", Remaining: "X-Ratelimit-Remaining", Reset: "X-Ratelimit-Reset",
			Window: time.Second,
		},
		{
			Budget: plan.Tokens, Limit: "X-Tokenlimit-Limit", Remaining: "X-Tokenlimit-Remaining", Reset: "X-Tokenlimit-Reset",
			Window: time.Second,
		},
		{
			Budget: plan.Requests, Bucket: "dynamic", Limit: "X-Ratelimit-Limit-Dynamic",
			Remaining: "X-Ratelimit-Remaining-Dynamic", Reset: "X-Ratelimit-Reset-Dynamic", Window: time.Second,
		},
		{
			Budget: plan.Tokens, Bucket: "dynamic", Limit: "X-Tokenlimit-Limit-Dynamic",
			Remaining: "X-Tokenlimit-Remaining-Dynamic", Reset: "X-Tokenlimit-Reset-Dynamic", Window: time.Second,
		},
	},
	Budget: budget,
}}

// budget goes by the error's type.
func budget(f compatible.Failed) string {
	switch f.Document.Type {
	case "dynamic_request_limited":
		return plan.Requests
	case "dynamic_token_limited":
		return plan.Tokens
	}
	return compatible.Budget(f)
}
