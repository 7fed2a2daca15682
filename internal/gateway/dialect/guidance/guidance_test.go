// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

var noon = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)

// TestA3RetryAfterEdges: what is stated, what is malformed, what saturates.
func TestA3RetryAfterEdges(t *testing.T) {
	cases := map[string]struct {
		wait      time.Duration
		source    dialect.Source
		malformed bool
	}{
		"0":                                 {0, dialect.SourceRetryAfterSeconds, false},
		"0.0":                               {0, dialect.SourceRetryAfterSeconds, false},
		"-1":                                {0, dialect.SourceRetryAfterSeconds, false},
		"60":                                {time.Minute, dialect.SourceRetryAfterSeconds, false},
		"007":                               {7 * time.Second, dialect.SourceRetryAfterSeconds, false},
		"0.0000000001":                      {1, dialect.SourceRetryAfterSeconds, false},
		"1.9999999999":                      {2 * time.Second, dialect.SourceRetryAfterSeconds, false},
		"9223372036854775807":               {Longest, dialect.SourceRetryAfterSeconds, false},
		strings.Repeat("9", 4000):           {Longest, dialect.SourceRetryAfterSeconds, false},
		"Sun, 14 Jun 2026 12:00:00 GMT":     {0, dialect.SourceRetryAfterDate, false},
		"Mon, 15 Jun 2026 12:00:30 GMT":     {30 * time.Second, dialect.SourceRetryAfterDate, false},
		"Monday, 15-Jun-26 12:00:30 GMT":    {30 * time.Second, dialect.SourceRetryAfterDate, false},
		"Mon Jun 15 12:00:30 2026":          {30 * time.Second, dialect.SourceRetryAfterDate, false},
		"Thursday, 15-Jun-70 12:00:00 GMT":  {noon.AddDate(44, 0, 0).Sub(noon), dialect.SourceRetryAfterDate, false},
		"Wednesday, 15-Jun-94 12:00:00 GMT": {0, dialect.SourceRetryAfterDate, false},
		"Fri, 31 Dec 9999 23:59:59 GMT":     {Longest, dialect.SourceRetryAfterDate, false},
		"Mon, 15 Jun 2026 12:00:60 GMT":     {time.Minute, dialect.SourceRetryAfterDate, false},
		"Mon, 15 Jun 2026 12:60:00 GMT":     {0, dialect.SourceNone, true},
		"Mon, 15 Jun 2026 12:00:30 +0000":   {0, dialect.SourceNone, true},
		"NaN":                               {0, dialect.SourceNone, true},
		"-Inf":                              {0, dialect.SourceNone, true},
		"1e309":                             {0, dialect.SourceNone, true},
		"0x10":                              {0, dialect.SourceNone, true},
		"1_000":                             {0, dialect.SourceNone, true},
		"+5":                                {0, dialect.SourceNone, true},
		".5":                                {0, dialect.SourceNone, true},
		"5.":                                {0, dialect.SourceNone, true},
		"5s":                                {0, dialect.SourceNone, true},
		"٣":                                 {0, dialect.SourceNone, true},
		"":                                  {0, dialect.SourceNone, true},
		"abc":                               {0, dialect.SourceNone, true},
		"abc, 5":                            {5 * time.Second, dialect.SourceRetryAfterSeconds, false},
		"Mon, 15 Jun 2026 12:00:30 GMT, Mon, 15 Jun 2026 12:00:40 GMT": {40 * time.Second, dialect.SourceRetryAfterDate, false},
	}
	for value, tc := range cases {
		wait, source, malformed := RetryAfter(http.Header{"Retry-After": {value}}, noon)
		if wait != tc.wait || source != tc.source || (malformed != "") != tc.malformed {
			t.Errorf("%.40q: %v from %s, malformed %q; want %v from %s", value, wait, source, malformed, tc.wait, tc.source)
		}
	}
}

// TestRepeatedLinesTakeTheLargest, in any order, and no number of lines is too many.
func TestRepeatedLinesTakeTheLargest(t *testing.T) {
	for _, lines := range [][]string{{"5", "10", "x"}, {"x", "10", "5"}, append([]string{"10"}, make([]string, 10_000)...)} {
		if wait, _, _ := RetryAfter(http.Header{"Retry-After": lines}, noon); wait != 10*time.Second {
			t.Errorf("%d lines: %v", len(lines), wait)
		}
	}
}

// TestA10Resets: every form of a reset header, and what is none.
//
// Fault A10: Reset headers were misread: minutes as seconds, a time as a span, Azure's -1 as a bucket's size.
// Headgate: Every form that is documented or was seen is read, each budget apart; what cannot be read is left out and
// counted, and -1 is no size.
func TestA10Resets(t *testing.T) {
	cases := map[string]struct {
		wait time.Duration
		ok   bool
	}{
		"6m0s": {6 * time.Minute, true}, "2m59.56s": {179560 * time.Millisecond, true}, "7.66s": {7660 * time.Millisecond, true},
		"500ms": {500 * time.Millisecond, true}, "12ms": {12 * time.Millisecond, true}, "1d2h": {26 * time.Hour, true},
		"60": {time.Minute, true}, "33011.382867": {33011382867 * time.Microsecond, true}, "0": {0, true}, "0s": {0, true},
		"1781524890": {90 * time.Second, true}, "1781524838250": {38250 * time.Millisecond, true},
		"1781524799": {0, true}, "50000000000": {Longest, true}, "999999999": {999999999 * time.Second, true},
		"2026-06-15T12:00:07Z": {7 * time.Second, true}, "2026-06-15t14:00:07.5+02:00": {7500 * time.Millisecond, true},
		"2026-06-15T11:59:59Z": {0, true}, " 5s ": {5 * time.Second, true},
		"-1": {}, "": {}, "s": {}, "5x": {}, "1h-2m": {}, "NaN": {}, "1e3": {}, "5s trailing": {}, "2026-06-15": {}, "+5s": {},
		strings.Repeat("1s", 100): {},
	}
	for text, tc := range cases {
		if wait, ok := reset(text, noon); wait != tc.wait || ok != tc.ok {
			t.Errorf("%.30q: %v %v, want %v %v", text, wait, ok, tc.wait, tc.ok)
		}
	}
}

// TestA10MinusOneIsNotReported: such a bucket has no size, no remainder and no reset.
func TestA10MinusOneIsNotReported(t *testing.T) {
	table := []Triple{{Budget: "Tokens", Limit: "L", Remaining: "R", Reset: "T"}}
	for name, h := range map[string]http.Header{
		"all":       {"L": {"-1"}, "R": {"-1"}, "T": {"0"}},
		"limit":     {"L": {"-1"}, "T": {"0"}},
		"remaining": {"R": {"-1"}, "T": {"5s"}},
		"reset":     {"T": {"-1"}},
		"malformed": {"L": {"many"}, "R": {"NaN"}, "T": {"soon"}},
	} {
		if budgets, _ := Budgets(h, table, noon); len(budgets) != 0 {
			t.Errorf("%s: %+v", name, budgets)
		}
	}
	b, malformed := Budgets(http.Header{"L": {"100, 100;w=60"}, "R": {"0"}, "T": {"soon"}}, table, noon)
	if len(b) != 1 || b[0].Limit != 100 || b[0].Remaining != 0 || b[0].HasReset || malformed != "T" {
		t.Errorf("%+v, malformed %q", b, malformed)
	}
}

// TestHints: durations in prose.
func TestHints(t *testing.T) {
	cases := map[string]struct {
		wait time.Duration
		ok   bool
	}{
		"Please try again in 20.5s.":                       {20500 * time.Millisecond, true},
		"Please try again in 547ms. Visit":                 {547 * time.Millisecond, true},
		"PLEASE TRY AGAIN IN 1h2m3s":                       {3723 * time.Second, true},
		"Please retry after 22 seconds.":                   {22 * time.Second, true},
		"retry after 1 second, or try again in 2 minutes.": {2 * time.Minute, true},
		"try again in 1 hour, 20 minutes and 5 seconds":    {4805 * time.Second, true},
		"try again in 1m 30s.":                             {90 * time.Second, true},
		"try again in 20s, 60s at most":                    {20 * time.Second, true},
		"try again in 20s. 5s more":                        {20 * time.Second, true},
		"try again in 5":                                   {},
		"try again in a while":                             {},
		"limited to 20 API calls / minute":                 {},
		"try again in 3 sheep":                             {},
		"try again in NaNs":                                {},
		"please try again after 1 seconds":                 {time.Second, true},
		"Try again in about 2 hours.":                      {2 * time.Hour, true},
		"quota resets in ~41 minutes":                      {41 * time.Minute, true},
		"please wait for another 30s":                      {30 * time.Second, true},
		"will be retried after 3 attempts":                 {},

		"Please try again in 6s. Your daily allowance resets in 13 hours.":          {6 * time.Second, true},
		"Your daily allowance resets in 13 hours. Retry after 6s, or retry in 8s.":  {8 * time.Second, true},
		"Please wait 2 days for approval of a raise, then. Try again in 3s":         {3 * time.Second, true},
		"Please wait 20 seconds. Quotas of a day are reset: limit resets in 2 days": {20 * time.Second, true},
		"Please wait 2m before the next. Retrying in 5h":                            {2 * time.Minute, true},
		"Please try again later. Your limit will reset in 5h 12m.":                  {312 * time.Minute, true},
		"Rate limit reset in 12s":                         {12 * time.Second, true},
		"Engine timed out: wait for 600 seconds exceeded": {},
		"wait for 3600s lock":                             {},
		"Connection reset after 600 seconds":              {},
		"the stream was reset in 2 minutes":               {},
	}
	for text, tc := range cases {
		if wait, ok := Advice(text); wait != tc.wait || ok != tc.ok {
			t.Errorf("%q: %v %v, want %v %v", text, wait, ok, tc.wait, tc.ok)
		}
	}
}

// TestSuccessesAdviseNoWait, and permanent failures lose what their headers said.
func TestSuccessesAdviseNoWait(t *testing.T) {
	h := http.Header{"Retry-After": {"9"}}
	if r := Read(http.StatusOK, h, noon); r.Source != dialect.SourceNone {
		t.Errorf("200: %+v", r)
	}
	r := Read(http.StatusRequestEntityTooLarge, h, noon)
	if Settle(&r, dialect.ClassPermanent, 0, false); r.Source != dialect.SourceNone || r.RetryAfter != 0 {
		t.Errorf("413: %+v", r)
	}
}

func bounded(t *testing.T, what string, wait time.Duration) {
	t.Helper()
	if wait < 0 || wait > Longest {
		t.Errorf("%s: wait %d", what, wait)
	}
}

// FuzzRetryAfter: never a panic, never negative, nothing from nothing; the malformed is named.
func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"5", "NaN", "1e9", "Mon, 15 Jun 2026 12:00:00 GMT", "5, 6", "-0.5", "99999999999999999999"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		wait, source, malformed := RetryAfter(http.Header{"Retry-After": {a, b}, "Retry-After-Ms": {b}}, noon)
		bounded(t, "retry-after", wait)
		if source == dialect.SourceNone && (wait != 0 || malformed == "") {
			t.Errorf("%v from nothing, malformed %q", wait, malformed)
		}
	})
}

// FuzzReset covers resets, durations and hints.
func FuzzReset(f *testing.F) {
	for _, s := range []string{"6m0s", "1781524890", "2026-06-15T12:00:07Z", "try again in 1h2m3s", "please wait for 3s. resets in 2 days", "0.1d", "9999999999999h", "1µs"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for what, read := range map[string]func() (time.Duration, bool){
			"reset": func() (time.Duration, bool) { return reset(s, noon) },
			"hint":  func() (time.Duration, bool) { return Hint(s, "in ") },
			"said":  func() (time.Duration, bool) { return Advice(s, s) },
			"date":  func() (time.Duration, bool) { return DateHint(s, "on", noon) },
		} {
			wait, ok := read()
			bounded(t, what, wait)
			if !ok && what == "reset" && wait != 0 {
				t.Errorf("%s: %v although unreadable", what, wait)
			}
		}
	})
}

// FuzzIETF: what is read is within bounds, and what is malformed is ignored as a whole.
func FuzzIETF(f *testing.F) {
	f.Add(`"a";r=0;t=12, "b";r=1`, `"a";q=50;w=60`)
	f.Add(`"a\"b";r=1;pk=:YQ==:`, `"fixed window";"api";q=1`)
	f.Fuzz(func(t *testing.T, limit, policy string) {
		budgets, malformed := IETF(http.Header{"Ratelimit": {limit}, "Ratelimit-Policy": {policy}})
		if malformed != "" && len(budgets) > 0 || len(budgets) > maxParts {
			t.Errorf("%d budgets, malformed %q", len(budgets), malformed)
		}
		for _, b := range budgets {
			bounded(t, "t", b.Reset)
			bounded(t, "w", b.Window)
			if b.Remaining < -1 || b.Limit < -1 {
				t.Errorf("%+v", b)
			}
		}
	})
}

// FuzzQuantity: an amount is malformed, "not reported", or within bounds; of a bucket in debt nothing remains.
func FuzzQuantity(f *testing.F) {
	for _, s := range []string{"100", "-1", "1e5", "100, 100;w=60", "0.5", strings.Repeat("9", 400)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if value, ok := quantity(s); ok && !(value >= -maxAmount && value <= maxAmount) {
			t.Errorf("%v", value)
		}
		budgets, _ := Budgets(http.Header{"Limit": {s}, "Left": {s}}, []Triple{{Limit: "Limit"}, {Remaining: "Left"}}, noon)
		for _, b := range budgets {
			if b.Limit < 0 && b.Limit != -1 || b.Remaining < 0 && b.Remaining != -1 || max(b.Limit, b.Remaining) > maxAmount {
				t.Errorf("%+v", b)
			}
		}
	})
}
