// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package compatible

import (
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
	"github.com/headgate-dev/headgate/internal/plan"
)

// RenewalPeriods gives budgets the windows that headers such as x-ratelimit-renewalperiod-requests state in
// seconds, which Azure and those who live there send.
func RenewalPeriods(h http.Header, r *dialect.Reading) {
	for i := range r.Budgets {
		name := "X-Ratelimit-Renewalperiod-Requests"
		if r.Budgets[i].Budget == plan.Tokens {
			name = "X-Ratelimit-Renewalperiod-Tokens"
		}
		if window, ok := HeaderSeconds(h, name); ok && window > 0 && r.Budgets[i].Bucket == "" {
			r.Budgets[i].Window = window
		}
	}
}

// HeaderSeconds reads a header that holds a number of seconds.
func HeaderSeconds(h http.Header, name string) (time.Duration, bool) {
	lines := h[name]
	if len(lines) == 0 {
		return 0, false
	}
	return guidance.SecondsHint(strings.Trim(lines[0], " \t"))
}

// SecondsOf reads a JSON number of seconds.
func SecondsOf(v gjson.Result) (time.Duration, bool) {
	if v.Type != gjson.Number {
		return 0, false
	}
	return guidance.SecondsHint(v.Raw)
}
