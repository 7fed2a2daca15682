// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package anthropic

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

var noon = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)

func epoch(after time.Duration) string { return strconv.FormatInt(noon.Add(after).Unix(), 10) }

func unifiedHeader(pairs ...string) http.Header {
	h := http.Header{"Date": {noon.Format(http.TimeFormat)}}
	for i := 0; i < len(pairs); i += 2 {
		h.Set("anthropic-ratelimit-unified-"+pairs[i], pairs[i+1])
	}
	return h
}

const body = `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your account's rate limit."}}`

// TestSubscriptionsThatRefuse: the window that refuses binds, also one that only some models have, and one that has no
// headers but its claim; a stated wait goes before all.
func TestSubscriptionsThatRefuse(t *testing.T) {
	const h5, d7 = time.Hour, 72 * time.Hour
	usual := []string{"status", "rejected", "5h-status", "allowed", "5h-reset", epoch(h5), "7d-status", "allowed_warning", "7d-reset", epoch(d7)}
	cases := map[string]struct {
		header http.Header
		wait   time.Duration
		source dialect.Source
	}{
		"five hours":      {unifiedHeader("status", "rejected", "5h-status", "rejected", "5h-reset", epoch(h5), "7d-status", "allowed", "7d-reset", epoch(d7)), h5, dialect.SourceResetHeader},
		"seven days":      {unifiedHeader("status", "rejected", "5h-status", "allowed", "5h-reset", epoch(h5), "7d-status", "rejected", "7d-reset", epoch(d7)), d7, dialect.SourceResetHeader},
		"both":            {unifiedHeader("status", "rejected", "5h-status", "rejected", "5h-reset", epoch(h5), "7d-status", "rejected", "7d-reset", epoch(d7)), d7, dialect.SourceResetHeader},
		"some models":     {unifiedHeader(append(usual, "7d_oi-status", "rejected", "7d_oi-reset", epoch(2*h5), "representative-claim", "seven_day_overage_included")...), 2 * h5, dialect.SourceResetHeader},
		"a claim alone":   {unifiedHeader(append(usual, "representative-claim", "seven_day_opus", "reset", epoch(5*h5))...), 5 * h5, dialect.SourceResetHeader},
		"bought capacity": {unifiedHeader(append(usual, "overage-status", "rejected", "overage-reset", epoch(3*h5))...), 3 * h5, dialect.SourceResetHeader},
		"nothing stated":  {unifiedHeader("status", "rejected"), 0, dialect.SourceNone},
		"switched off": {
			unifiedHeader(append(usual, "overage-status", "rejected", "overage-disabled-reason", "org_level_disabled", "reset", epoch(4*h5))...), 4 * h5, dialect.SourceResetHeader,
		},
	}
	stated := unifiedHeader(usual...)
	stated.Set("Retry-After", "51811")
	cases["a stated wait"] = struct {
		header http.Header
		wait   time.Duration
		source dialect.Source
	}{stated, 51811 * time.Second, dialect.SourceRetryAfterSeconds}
	for name, tc := range cases {
		d := Dialect{}
		r := d.ReadHeaders(http.StatusTooManyRequests, tc.header, noon)
		f := d.ReadFailure(http.StatusTooManyRequests, tc.header, []byte(body), &r)
		if f.Class != dialect.ClassQuota || r.RetryAfter != tc.wait || r.Source != tc.source {
			t.Errorf("%s: %s, %v from %s; want %v from %s", name, f.Class, r.RetryAfter, r.Source, tc.wait, tc.source)
		}
	}
}

// TestSubscriptionsThatAllow: what cannot be bought refuses nothing, and an account without windows has none.
func TestSubscriptionsThatAllow(t *testing.T) {
	h := unifiedHeader("status", "allowed", "5h-status", "allowed", "5h-reset", epoch(time.Hour), "5h-utilization", "0.01",
		"7d-status", "allowed", "7d-reset", epoch(time.Hour), "overage-status", "rejected",
		"overage-disabled-reason", "org_level_disabled", "representative-claim", "five_hour", "reset", epoch(time.Hour),
		"fallback-percentage", "0.5")
	r := Dialect{}.ReadHeaders(http.StatusOK, h, noon)
	if len(r.Budgets) != 2 || r.Malformed != "" {
		t.Fatalf("%+v, malformed %q", r.Budgets, r.Malformed)
	}
	for _, b := range r.Budgets {
		if b.Remaining == 0 || !b.HasReset || b.Reset != time.Hour {
			t.Errorf("%+v", b)
		}
	}
	h.Del("anthropic-ratelimit-unified-status")
	if r := (Dialect{}).ReadHeaders(http.StatusOK, h, noon); len(r.Budgets) != 0 {
		t.Errorf("%+v", r.Budgets)
	}
}

// TestWindowsAreBounded, however many a response names.
func TestWindowsAreBounded(t *testing.T) {
	h := unifiedHeader("status", "allowed")
	for i := range 1000 {
		h.Set("anthropic-ratelimit-unified-7d"+strconv.Itoa(i)+"-reset", epoch(time.Hour))
	}
	if r := (Dialect{}).ReadHeaders(http.StatusOK, h, noon); len(r.Budgets) != maxUnified {
		t.Errorf("%d budgets", len(r.Budgets))
	}
}

// TestA10PriorityAndFastBuckets stand beside the account's own; a limit of nothing is one that was not bought.
func TestA10PriorityAndFastBuckets(t *testing.T) {
	h := http.Header{}
	for _, name := range []string{"anthropic-ratelimit-input-tokens", "anthropic-priority-input-tokens", "anthropic-priority-output-tokens", "anthropic-fast-output-tokens"} {
		h.Set(name+"-limit", "10000")
		h.Set(name+"-remaining", "9000")
		h.Set(name+"-reset", noon.Add(time.Second).Format(time.RFC3339))
	}
	h.Set("anthropic-fast-input-tokens-limit", "0")
	r := Dialect{}.ReadHeaders(http.StatusOK, h, noon)
	got := map[string]float64{}
	for _, b := range r.Budgets {
		got[b.Budget+" "+b.Bucket] = b.Limit
	}
	want := map[string]float64{
		"InputTokens ": 10000, "InputTokens priority": 10000, "OutputTokens priority": 10000, "OutputTokens fast": 10000, "InputTokens fast": 0,
	}
	for name, limit := range want {
		if value, ok := got[name]; !ok || value != limit {
			t.Errorf("%s: %v, %v", name, value, ok)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%v", got)
	}
}
