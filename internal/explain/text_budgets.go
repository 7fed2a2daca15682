// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"strconv"
	"strings"
	"time"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// clockNoise is what two healthy clocks may differ.
const clockNoise = 2 * time.Second

func (p *page) budgets(d dialect.Dialect, r Reading) {
	if len(r.Reading.Budgets) == 0 {
		return
	}
	p.section("Budgets")
	rows := [][]string{{"BUDGET", "WINDOW", "LIMIT", "REMAINING", "RESETS IN", "REFILLS"}}
	for _, b := range r.Reading.Budgets {
		reset := "-"
		if b.HasReset {
			reset = duration(b.Reset)
		}
		rows = append(rows, []string{
			bucketName(b), windowName(b.Window), amount(b.Limit), amount(b.Remaining) + rounding(b), reset, refill(b, d.Facts()),
		})
	}
	p.table(rows)
	if hasReset(r.Reading.Budgets) {
		p.line("  %s", resetMeaning(d.Facts()))
	}
}

// bucketName adds what tells buckets of one name and window apart.
func bucketName(b dialect.BudgetReading) string {
	name := budgetName(b)
	if b.Bucket == "" || apart[b.Bucket] != "" || b.Bucket == windowName(b.Window) {
		return name
	}
	return name + " (" + shown(b.Bucket) + ")"
}

func hasReset(budgets []dialect.BudgetReading) bool {
	for _, b := range budgets {
		if b.HasReset {
			return true
		}
	}
	return false
}

func resetMeaning(f facts.Facts) string {
	if f.ResetMeans == facts.ResetFull {
		return "A reset is the time until the budget is full; a gateway that knows a call's size waits only until the call fits."
	}
	return "A reset is the time until the budget can be used again."
}

// refill is the rate of a budget: the limit over its window, or over what a reset says of it.
func refill(b dialect.BudgetReading, f facts.Facts) string {
	switch {
	case b.Limit < 0:
		return "-"
	case b.Window > 0:
		return rate(b.Limit / b.Window.Seconds())
	case f.ResetMeans == facts.ResetFull && b.HasReset && b.Reset > 0 && b.Remaining >= 0 && b.Remaining < b.Limit:
		return rate((b.Limit - b.Remaining) / b.Reset.Seconds())
	}
	return "-"
}

// rate writes an amount per second in the unit in which it is at least one.
func rate(perSecond float64) string {
	for _, unit := range [...]struct {
		seconds float64
		name    string
	}{{1, "s"}, {60, "min"}, {3600, "h"}} {
		if perSecond*unit.seconds >= 1 {
			return number(perSecond*unit.seconds) + "/" + unit.name
		}
	}
	return number(perSecond*86400) + "/day"
}

// number writes three significant digits of what is small, and whole numbers with separators.
func number(v float64) string {
	if v < 100 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	digits := strconv.FormatFloat(v, 'f', 0, 64)
	var out strings.Builder
	for i, c := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			out.WriteByte(',')
		}
		out.WriteRune(c)
	}
	return out.String()
}

func amount(v float64) string {
	if v < 0 {
		return "-"
	}
	if v < 1000 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return number(v)
}

func rounding(b dialect.BudgetReading) string {
	if b.RoundedTo > 1 && b.Remaining > 0 {
		return " (±" + number(b.RoundedTo/2) + ")"
	}
	return ""
}
