// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package xai

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

// Dialect is xAI's. Requests are limited per second or per minute, and no header says which.
var Dialect = compatible.Dialect{Spec: compatible.Spec{
	Name: "XAI", Version: "/v1",
	Operations: compatible.Anthropic,
	Buckets: []guidance.Triple{
		compatible.Bucket(plan.Requests, "", "Requests", 0),
		compatible.Bucket(plan.Tokens, "", "Tokens", time.Minute),
	},
	Classify: classify,
	Budget:   budget,
}}

// classify finds spent credits under 402, 403 and 429, and the allowance of a free account, which is one of a day.
func classify(f compatible.Failed) dialect.Class {
	switch {
	case f.Status < http.StatusBadRequest || f.Status >= http.StatusInternalServerError:
	case f.Says("used all available credits", "monthly spending limit", "used all the included free usage"):
		return dialect.ClassQuota
	case strings.HasSuffix(f.Document.Code, ":spending-limit"), strings.HasSuffix(f.Document.Code, ":free-usage-exhausted"):
		return dialect.ClassQuota
	}
	return openai.Classify(f.Status, f.Document)
}

// budget is the one that a refusal begins with, before it says how much of which limits was used.
func budget(f compatible.Failed) string {
	switch {
	case f.Says("too many tokens"):
		return plan.Tokens
	case f.Says("too many requests"):
		return plan.Requests
	}
	return compatible.Budget(f)
}
