// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fireworks

import (
	"net/http"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/compatible"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/openai"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Dialect is Fireworks AI's. Prompt tokens have a second bucket that cached ones do not count to; calls are paced
// by the first, which they do. Accounts and their models lie below another version than inference.
var Dialect = compatible.Dialect{Spec: compatible.Spec{
	Name: "Fireworks", Version: "/inference/v1", Beside: []string{"accounts"},
	Operations: compatible.Anthropic,
	Buckets: []guidance.Triple{
		compatible.Bucket(plan.Requests, "", "Requests", time.Minute),
		compatible.Bucket(plan.InputTokens, "", "Tokens-Prompt", time.Minute),
		compatible.Bucket(plan.InputTokens, "uncached", "Tokens-Cache-Adjusted-Prompt", time.Minute),
		compatible.Bucket(plan.OutputTokens, "", "Tokens-Generated", time.Minute),
	},
	Classify: classify,
}}

// classify finds accounts that are suspended for want of payment, which have a status of their own.
func classify(f compatible.Failed) dialect.Class {
	if f.Status == http.StatusPreconditionFailed && f.Says("is suspended") {
		return dialect.ClassQuota
	}
	return openai.Classify(f.Status, f.Document)
}
