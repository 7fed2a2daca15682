// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// maxAmount is what huge limits saturate to: far above any account, and exact as a float.
const maxAmount = 1e15

// Triple names the three headers of one bucket, in canonical form; an empty name is not sent.
type Triple struct {
	Budget, Bucket          string
	Limit, Remaining, Reset string
	RoundedTo               float64
	Window                  time.Duration
	// Exhausted: a status, not an amount, says that nothing remains.
	Exhausted bool
}

// Budgets reads the buckets of a table. A bucket whose limit is negative, or whose remaining is -1, is not reported by
// the provider; its reset is then no guidance either. Any other remaining below zero is a debt, of which nothing is left. malformed names the first header that could not be read.
func Budgets(h http.Header, table []Triple, reference time.Time) (budgets []dialect.BudgetReading, malformed string) {
	for _, t := range table {
		b, ok, bad := t.read(h, reference)
		malformed = first(malformed, bad)
		if !ok {
			continue
		}
		if budgets == nil {
			budgets = make([]dialect.BudgetReading, 0, len(table))
		}
		budgets = append(budgets, b)
	}
	return budgets, malformed
}

func (t Triple) read(h http.Header, reference time.Time) (b dialect.BudgetReading, ok bool, malformed string) {
	b = dialect.BudgetReading{
		Budget: t.Budget, Bucket: t.Bucket, Limit: -1, Remaining: -1, RoundedTo: max(t.RoundedTo, 1), Window: t.Window,
	}
	unreported := false
	amount := func(name string, into *float64) {
		text, sent := field(h, name)
		if !sent {
			return
		}
		value, valid := quantity(text)
		switch {
		case !valid:
			malformed = first(malformed, name)
		case value == -1 || value < 0 && into == &b.Limit:
			unreported = true
		case value < 0:
			*into, ok = 0, true
		default:
			*into, ok = value, true
		}
	}
	amount(t.Limit, &b.Limit)
	amount(t.Remaining, &b.Remaining)
	if unreported {
		return b, false, malformed
	}
	if t.Exhausted {
		b.Remaining, ok = 0, true
	}
	if text, sent := field(h, t.Reset); sent {
		if b.Reset, b.HasReset = reset(text, reference); b.HasReset {
			ok = true
		} else if trim(text) != "-1" {
			malformed = first(malformed, t.Reset)
		}
	}
	return b, ok, malformed
}

func field(h http.Header, name string) (string, bool) {
	if lines := h[name]; name != "" && len(lines) > 0 {
		return lines[0], true
	}
	return "", false
}

// quantity reads a limit or a remainder: the number before any parameter or further element, as in
// "100, 100;w=60".
func quantity(text string) (float64, bool) {
	if i := strings.IndexAny(text, ",;"); i >= 0 {
		text = text[:i]
	}
	text, negative := strings.CutPrefix(trim(text), "-")
	if text == "" || numberLen(text) != len(text) {
		return 0, false
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || value > maxAmount {
		value = maxAmount // only its size can be wrong
	}
	if negative {
		value = -value
	}
	return value, true
}
