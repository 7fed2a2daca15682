// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Expectation is what a response says, in the form that programs read.
type Expectation struct {
	Class string `json:"class"`
	// WaitSeconds is null without guidance; 0 is a valid "now".
	WaitSeconds *float64 `json:"wait_seconds"`
	Source      string   `json:"source"`
	Budgets     []Budget `json:"budgets"`
}

// Budget is one budget that a response reports; null is not reported.
type Budget struct {
	Name         string   `json:"name"`
	Window       string   `json:"window"`
	Limit        *float64 `json:"limit"`
	Remaining    *float64 `json:"remaining"`
	ResetSeconds *float64 `json:"reset_seconds"`
}

// Expectation is the reading in the form that programs read.
func (r Reading) Expectation() Expectation {
	e := Expectation{Class: className(r.Class), Source: string(dialect.SourceNone), Budgets: []Budget{}}
	if wait, source, ok := r.Reading.Wait(r.Class); ok {
		e.WaitSeconds, e.Source = pointer(seconds(wait)), sourceName(source)
	}
	for _, b := range r.Reading.Budgets {
		e.Budgets = append(e.Budgets, budget(b))
	}
	slices.SortStableFunc(e.Budgets, func(a, b Budget) int { return cmp.Compare(a.Name, b.Name) })
	return e
}

func className(c dialect.Class) string {
	if c == dialect.ClassSuccess {
		return "ok"
	}
	return string(c)
}

func sourceName(s dialect.Source) string {
	if s == dialect.SourceBody {
		return "body-hint"
	}
	return string(s)
}

func budget(b dialect.BudgetReading) Budget {
	out := Budget{Name: budgetName(b), Window: windowName(b.Window), Limit: stated(b.Limit), Remaining: stated(b.Remaining)}
	if b.HasReset {
		out.ResetSeconds = pointer(seconds(b.Reset))
	}
	return out
}

var budgetNames = map[string]string{
	plan.Requests: "requests", plan.Tokens: "tokens", plan.InputTokens: "input_tokens", plan.OutputTokens: "output_tokens",
	plan.InFlight: "in_flight",
}

// apart are the buckets that stand beside the account's own of the same budget and window.
var apart = map[string]string{"project": "project_", "priority": "priority_", "fast": "fast_", "dynamic": "dynamic_", "uncached": "uncached_"}

// budgetName names a budget. The windows of a subscription have no budget of their own and one name together.
func budgetName(b dialect.BudgetReading) string {
	if b.Budget == "" {
		return "unified"
	}
	return apart[b.Bucket] + budgetNames[b.Budget]
}

const day = 24 * time.Hour

var windowNames = map[time.Duration]string{
	0: "unknown", time.Second: "second", time.Minute: "minute", time.Hour: "hour", day: "day",
	5 * time.Hour: "5h", 7 * day: "7d", 30 * day: "month", 31 * day: "month",
}

func windowName(window time.Duration) string {
	if name, ok := windowNames[window]; ok {
		return name
	}
	return duration(window)
}

func stated(v float64) *float64 {
	if v < 0 {
		return nil
	}
	return pointer(v)
}

// seconds is the number nearest to d, which Duration.Seconds is not: it adds the whole and the fraction, and gives
// 1.2429999999999999 for 1.243 s.
func seconds(d time.Duration) float64 { return float64(d) / float64(time.Second) }

func pointer(v float64) *float64 { return &v }
