// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package groq

import (
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/compatible"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/openai"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Dialect is Groq's. The limit of requests per minute is in no header.
var Dialect = compatible.Dialect{Spec: compatible.Spec{
	Name: "Groq", Version: "/openai/v1",
	Buckets: []guidance.Triple{
		{
			Budget: plan.Requests, Limit: "X-Ratelimit-Limit-Requests", Remaining: "X-Ratelimit-Remaining-Requests",
			Reset: "X-Ratelimit-Reset-Requests", Window: 24 * time.Hour,
		},
		{
			Budget: plan.Tokens, Limit: "X-Ratelimit-Limit-Tokens", Remaining: "X-Ratelimit-Remaining-Tokens",
			Reset: "X-Ratelimit-Reset-Tokens", Window: time.Minute,
		},
	},
	Classify: classify,
	Budget:   func(f compatible.Failed) string { return openai.Budget(f.Document) },
}}

// statusCapacity is what the flex tier answers when it lacks capacity.
const statusCapacity = 498

func classify(f compatible.Failed) dialect.Class {
	if f.Status == statusCapacity {
		return dialect.ClassOverload
	}
	return openai.Classify(f.Status, f.Document)
}
