// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package openai

import (
	"net/http"
	"testing"
	"time"
)

// TestA10AWindowOfADayIsToldByItsFigures: the names are those of a minute's, and a call sent by a minute's rate is refused.
func TestA10AWindowOfADayIsToldByItsFigures(t *testing.T) {
	cases := map[string]struct {
		limit, remaining, reset string
		want                    time.Duration
	}{
		"a minute":                   {"500", "499", "120ms", time.Minute},
		"a minute, used up":          {"500", "0", "1m0s", time.Minute},
		"a minute, half":             {"30000", "15000", "30s", time.Minute},
		"a day":                      {"10000", "9999", "8.64s", day},
		"a day, half":                {"200", "100", "12h0m0s", day},
		"a day, used up":             {"200", "0", "24h0m0s", day},
		"too short to tell":          {"10000000", "9999999", "6ms", time.Minute},
		"full":                       {"200", "200", "0s", time.Minute},
		"nothing allowed":            {"0", "0", "24h0m0s", time.Minute},
		"neither a minute nor a day": {"100", "0", "1h0m0s", time.Minute},
	}
	for name, tc := range cases {
		h := http.Header{
			"X-Ratelimit-Limit-Requests": {tc.limit}, "X-Ratelimit-Remaining-Requests": {tc.remaining}, "X-Ratelimit-Reset-Requests": {tc.reset},
		}
		r := Dialect{}.ReadHeaders(http.StatusOK, h, time.Now())
		if len(r.Budgets) != 1 || r.Budgets[0].Window != tc.want {
			t.Errorf("%s: %+v, want a window of %s", name, r.Budgets, tc.want)
		}
	}
}
