// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package groq

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

// Dialect is Groq's. The limit of requests per minute is in no header.
var Dialect = compatible.Dialect{Spec: compatible.Spec{
	Name: "Groq", Version: "/openai/v1",
	Buckets: []guidance.Triple{
		compatible.Bucket(plan.Requests, "", "Requests", compatible.Day),
		compatible.Bucket(plan.Tokens, "", "Tokens", time.Minute),
	},
	Classify: classify,
}}

// statusCapacity is what the flex tier answers when it lacks capacity.
const statusCapacity = 498

func classify(f compatible.Failed) dialect.Class {
	switch {
	case f.Status == statusCapacity:
		return dialect.ClassOverload
	case f.Document.Code == "blocked_api_access", strings.HasPrefix(f.Document.Code, "spend_"):
		return dialect.ClassQuota // the organisation's own spend limit, under status 400
	case f.Status == http.StatusTooManyRequests && f.Exhausted():
		return dialect.ClassQuota // the requests of a day
	}
	return openai.Classify(f.Status, f.Document)
}
