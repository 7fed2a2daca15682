// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package githubmodels

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

// Dialect is GitHub Models'. What its successes report are the limits of the service behind, far above the user's
// own, which only refusals name.
var Dialect = compatible.Dialect{Spec: compatible.Spec{
	Name: "GitHubModels", Path: path, Below: below,
	Buckets: []guidance.Triple{
		compatible.Bucket(plan.Requests, "", "Requests", time.Minute),
		compatible.Bucket(plan.Tokens, "", "Tokens", time.Minute),
	},
	Headers:  func(_ int, h http.Header, r *dialect.Reading) { compatible.RenewalPeriods(h, r) },
	Complete: complete,
	Classify: classify,
	Hint: func(f compatible.Failed, _ time.Time) (time.Duration, bool) {
		return f.Document.Advice()
	},
	Budget: budget,
}}

// limit is the name of the limit that refused, UserByModelByDay, from its header or from the message.
func limit(f compatible.Failed) string {
	if name := f.Header.Get("X-Ratelimit-Type"); name != "" {
		return name
	}
	_, rest, _ := strings.Cut(f.Document.Message, "exceeded for ")
	name, _, _ := strings.Cut(rest, ".")
	return name
}

func classify(f compatible.Failed) dialect.Class {
	if f.Status == http.StatusTooManyRequests && strings.Contains(limit(f), "ByDay") {
		return dialect.ClassQuota
	}
	return openai.Classify(f.Status, f.Document)
}

func budget(f compatible.Failed) string {
	switch name := limit(f); {
	case strings.Contains(name, "Concurrent"):
		return plan.InFlight
	case strings.HasSuffix(name, "InputTokens"):
		return plan.InputTokens
	case strings.HasSuffix(name, "OutputTokens"):
		return plan.OutputTokens
	case strings.HasSuffix(name, "Tokens"):
		return plan.Tokens
	case name != "":
		return plan.Requests
	}
	return compatible.Budget(f)
}

// complete reads the rest of the window where no Retry-After says it.
func complete(f *compatible.Failed, r *dialect.Reading) {
	if r.Source != dialect.SourceNone {
		return
	}
	reset, ok := compatible.HeaderSeconds(f.Header, "X-Ratelimit-Timeremaining")
	if !ok {
		return
	}
	b := dialect.BudgetReading{Budget: budget(*f), Bucket: "user", Limit: -1, Remaining: -1, RoundedTo: 1, Reset: reset, HasReset: true}
	switch name := limit(*f); {
	case strings.Contains(name, "ByDay"):
		b.Window = compatible.Day
	case strings.Contains(name, "ByMinute"):
		b.Window = time.Minute
	}
	r.Budgets = append(r.Budgets, b)
}
