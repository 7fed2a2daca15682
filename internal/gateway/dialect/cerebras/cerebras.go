// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package cerebras

import (
	"net/http"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/compatible"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/openai"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Dialect is Cerebras'. Only the buckets of a minute refill soon enough to pace calls by.
var Dialect = compatible.Dialect{Spec: compatible.Spec{
	Name: "Cerebras", Version: "/v1",
	Buckets: []guidance.Triple{
		compatible.Bucket(plan.Requests, "", "Requests-Minute", time.Minute),
		compatible.Bucket(plan.Requests, "hour", "Requests-Hour", time.Hour),
		compatible.Bucket(plan.Requests, "day", "Requests-Day", compatible.Day),
		compatible.Bucket(plan.Tokens, "", "Tokens-Minute", time.Minute),
		compatible.Bucket(plan.Tokens, "hour", "Tokens-Hour", time.Hour),
		compatible.Bucket(plan.Tokens, "day", "Tokens-Day", compatible.Day),
	},
	Classify: classify,
	Budget:   budget,
}}

// classify tells a full queue from a limit. Words and codes with "quota" in them mean the limits of a minute too.
func classify(f compatible.Failed) dialect.Class {
	if f.Status != http.StatusTooManyRequests {
		return openai.Classify(f.Status, f.Document)
	}
	switch {
	case f.Document.Param == "queue", f.Document.Code == "queue_exceeded":
		return dialect.ClassOverload
	case f.Exhausted(), f.Says("per day"):
		return dialect.ClassQuota
	}
	return dialect.ClassThrottle
}

func budget(f compatible.Failed) string {
	switch {
	case strings.HasPrefix(f.Document.Code, "request_"):
		return plan.Requests
	case strings.HasPrefix(f.Document.Code, "token_"):
		return plan.Tokens
	}
	return compatible.Budget(f)
}
