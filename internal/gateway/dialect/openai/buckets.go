// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package openai

import (
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Buckets are the headers of the account's buckets and of a project's own ceiling. The usage-based variant
// repeats the tokens in another count and is left out. Some models' requests are per day, which no header says: see Days.
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

const (
	day = 24 * time.Hour
	// leastReset is the least reset that tells a window: shorter ones are rounded too much.
	leastReset = time.Second
	// shortDay and longDay are what a day may come out as, with a remainder and a reset that were read one after the other.
	shortDay, longDay = 18 * time.Hour, 30 * time.Hour
)

// Days gives budgets of a minute the window of a day where their figures say so: some models are limited by the day, under
// the same names. A reset is the time to full, so 10,000 of which one is used, and full again in 8.64 s, is a day's.
func Days(budgets []dialect.BudgetReading) {
	for i := range budgets {
		b := &budgets[i]
		if b.Window != time.Minute || !b.HasReset || b.Reset < leastReset || b.Remaining < 0 || b.Remaining >= b.Limit {
			continue
		}
		if full := b.Reset.Seconds() / (1 - b.Remaining/b.Limit); full >= shortDay.Seconds() && full <= longDay.Seconds() {
			b.Window = day
		}
	}
}
