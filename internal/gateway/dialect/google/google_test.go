// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package google

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
)

var noon = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)

func read(status int, body string) (dialect.Failure, dialect.Reading) {
	d := Dialect{}
	r := d.ReadHeaders(status, http.Header{}, noon)
	return d.ReadFailure(status, http.Header{}, []byte(body), &r), r
}

// exhausted is a 429 with details.
func exhausted(message, details string) string {
	return `{"error":{"code":429,"message":"` + message + `","status":"RESOURCE_EXHAUSTED","details":[` + details + `]}}`
}

func violation(quotaID, rest string) string {
	return `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"generativelanguage.googleapis.com/generate_content_free_tier_requests","quotaId":"` +
		quotaID + `"` + rest + `}]}`
}

func retryInfo(delay string) string {
	return `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":` + delay + `}`
}

// TestA9WaitsInTheBody: every place a wait is written in, the longest of several, none that has no unit.
func TestA9WaitsInTheBody(t *testing.T) {
	cases := map[string]struct {
		body string
		wait time.Duration
		ok   bool
	}{
		"RetryInfo":                  {exhausted("m", retryInfo(`"45.837906927s"`)), 45837906927, true},
		"whole seconds":              {exhausted("m", retryInfo(`"39s"`)), 39 * time.Second, true},
		"an object":                  {exhausted("m", retryInfo(`{"seconds":"34","nanos":74824224}`)), 34074824224, true},
		"an object of nanoseconds":   {exhausted("m", retryInfo(`{"nanos":500000000}`)), 500 * time.Millisecond, true},
		"nothing at all":             {exhausted("m", retryInfo(`"0s"`)), 0, true},
		"no unit":                    {exhausted("m", retryInfo(`"34"`)), 0, false},
		"a number":                   {exhausted("m", retryInfo(`34`)), 0, false},
		"an empty object":            {exhausted("m", retryInfo(`{}`)), 0, false},
		"ErrorInfo":                  {exhausted("m", `{"reason":"RATE_LIMIT_EXCEEDED","metadata":{"quotaResetDelay":"373.801628ms"}}`), 373801628, true},
		"ErrorInfo, hours":           {exhausted("m", `{"reason":"QUOTA_EXHAUSTED","metadata":{"quotaResetDelay":"6h2m3s"}}`), 21723 * time.Second, true},
		"ErrorInfo, a time":          {exhausted("m", `{"metadata":{"quotaResetTimeStamp":"2026-06-15T12:00:09Z"}}`), 9 * time.Second, true},
		"the message is longer":      {exhausted("Please retry in 58.934s.", retryInfo(`"58s"`)), 58934 * time.Millisecond, true},
		"RetryInfo is longer":        {exhausted("Please retry in 900.2ms.", retryInfo(`"2s"`)), 2 * time.Second, true},
		"the message alone":          {exhausted(`limit: 20\nPlease retry in 10h17m5.7s.`, ""), 37025700 * time.Millisecond, true},
		"seconds in the message":     {exhausted("Please retry in 44.09s", ""), 44090 * time.Millisecond, true},
		"capacity, reset after":      {exhausted("You have exhausted your capacity on this model. Your quota will reset after 12s.", ""), 12 * time.Second, true},
		"of another quota":           {exhausted("Your allowance of a day resets in 13 hours.", retryInfo(`"6s"`)), 6 * time.Second, true},
		"an array":                   {"[" + exhausted("m", retryInfo(`"12s"`)) + "\n]", 12 * time.Second, true},
		"a detail without its type":  {exhausted("m", `{"retryDelay":"7s"}`), 7 * time.Second, true},
		"in the details of a detail": {exhausted("m", `{"@type":"type.googleapis.com/google.rpc.Status","code":8,"details":[`+retryInfo(`"7s"`)+`]}`), 7 * time.Second, true},
		"details that are no list":   {`{"error":{"code":429,"message":"m","details":{"retryDelay":"7s"}}}`, 0, false},
		"a document in a string":     {`{"error":{"code":429,"status":"Too Many Requests","message":"{\n  \"error\": {\n    \"code\": 429,\n    \"message\": \"m\",\n    \"status\": \"RESOURCE_EXHAUSTED\",\n    \"details\": [{\"retryDelay\": \"7s\"}]\n  }\n}\n"}}`, 7 * time.Second, true},
		"the whole body is a string": {`"[{\"error\":{\"code\":429,\"details\":[{\"retryDelay\":\"7s\"}]}}]"`, 7 * time.Second, true},
		"no JSON":                    {"Please retry in 7s", 0, false},
		"more details than are read": {exhausted("m", strings.Repeat(`{},`, 100)+retryInfo(`"7s"`)), 0, false},
		"absurd":                     {exhausted("m", retryInfo(`{"seconds":"99999999999999999999","nanos":999999999}`)), guidance.Longest - 1, true},
	}
	for name, tc := range cases {
		_, r := read(http.StatusTooManyRequests, tc.body)
		if got := r.Source == dialect.SourceBody; r.RetryAfter != tc.wait || got != tc.ok {
			t.Errorf("%s: %v from %s, want %v %v", name, r.RetryAfter, r.Source, tc.wait, tc.ok)
		}
	}
}

// TestA7QuotaIsToldFromThrottle: by the names and sizes of quotas, never by the sentence both have.
func TestA7QuotaIsToldFromThrottle(t *testing.T) {
	const sentence = "You exceeded your current quota, please check your plan and billing details."
	cases := map[string]struct {
		status int
		body   string
		want   dialect.Class
	}{
		"a minute":                  {429, exhausted(sentence, violation("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "")), dialect.ClassThrottle},
		"a day":                     {429, exhausted(sentence, violation("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "")+","+retryInfo(`"22s"`)), dialect.ClassQuota},
		"a day, other name":         {429, exhausted(sentence, violation("DailyLimit", "")), dialect.ClassQuota},
		"both":                      {429, exhausted(sentence, violation("GenerateRequestsPerMinutePerProject", "")+","+violation("GenerateRequestsPerDayPerProject", "")), dialect.ClassQuota},
		"a day, in the metadata":    {429, exhausted(sentence, `{"metadata":{"quota_limit":"GenerateContentPerDay","quota_unit":"1/d/{project}"}}`), dialect.ClassQuota},
		"a minute, in the metadata": {429, exhausted(sentence, `{"metadata":{"quota_limit":"GenerateContentRequestsPerMinutePerProjectPerRegion","quota_unit":"1/min/{project}/{region}"}}`), dialect.ClassThrottle},
		"a limit of nothing":        {429, exhausted(sentence+` limit: 0, model: m\nPlease retry in 10.6s.`, ""), dialect.ClassQuota},
		"a limit of nothing, dot":   {429, exhausted("Quota exceeded, limit: 0.", ""), dialect.ClassQuota},
		"a small limit":             {429, exhausted("Quota exceeded, limit: 0.5, model: m", ""), dialect.ClassThrottle},
		"a limit of 05":             {429, exhausted("Quota exceeded, limit: 05", ""), dialect.ClassThrottle},
		"a value of nothing":        {429, exhausted(sentence, violation("GenerateRequestsPerMinute", `,"quotaValue":"0"`)), dialect.ClassQuota},
		"a size of nothing":         {429, exhausted(sentence, `{"metadata":{"quota_limit_value":"0"}}`), dialect.ClassQuota},
		"credits":                   {429, exhausted("Your prepayment credits are depleted.", ""), dialect.ClassQuota},
		"credits, by reason":        {429, exhausted("m", `{"reason":"INSUFFICIENT_G1_CREDITS_BALANCE"}`), dialect.ClassQuota},
		"paid for no more":          {402, `{"error":{"code":402,"message":"m","status":"RESOURCE_EXHAUSTED"}}`, dialect.ClassQuota},
		"capacity":                  {429, exhausted("No capacity available for model on the server", `{"reason":"MODEL_CAPACITY_EXHAUSTED"}`), dialect.ClassOverload},
		"shared capacity":           {429, exhausted("Resource exhausted, please try again later.", ""), dialect.ClassThrottle},
		"overloaded":                {503, `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`, dialect.ClassOverload},
		"internal":                  {500, `{"error":{"code":500,"message":"m","status":"INTERNAL"}}`, dialect.ClassTransient},
		"too slow":                  {504, `{"error":{"code":504,"message":"m","status":"DEADLINE_EXCEEDED"}}`, dialect.ClassTransient},
		"cancelled by the server":   {499, `{"error":{"code":499,"message":"m","status":"CANCELLED"}}`, dialect.ClassTransient},
		"aborted":                   {409, `{"error":{"code":409,"message":"m","status":"ABORTED"}}`, dialect.ClassTransient},
		"already there":             {409, `{"error":{"code":409,"message":"m","status":"ALREADY_EXISTS"}}`, dialect.ClassPermanent},
		"a wrong key":               {400, `{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`, dialect.ClassPermanent},
		"forbidden":                 {403, `{"error":{"code":403,"message":"m","status":"PERMISSION_DENIED"}}`, dialect.ClassPermanent},
		"a page":                    {502, "<html>", dialect.ClassTransient},
		"nothing":                   {429, "", dialect.ClassThrottle},
		"Interactions, a day":       {429, `{"error":{"code":"quota_exceeded","message":"m"}}`, dialect.ClassQuota},
		"Interactions, a minute":    {429, `{"error":{"code":"rate_limit_exceeded","message":"m"}}`, dialect.ClassThrottle},
		"Interactions, unpaid":      {402, `{"error":{"code":"payment_required","message":"m"}}`, dialect.ClassQuota},
		"Interactions, wrong":       {400, `{"error":{"code":"invalid_request","message":"m"}}`, dialect.ClassPermanent},
		"Anthropic's":               {529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, dialect.ClassOverload},
		"Anthropic's, a minute":     {429, `{"type":"error","error":{"type":"rate_limit_error","message":"m"}}`, dialect.ClassThrottle},
	}
	for name, tc := range cases {
		if f, _ := read(tc.status, tc.body); f.Class != tc.want {
			t.Errorf("%s: %s, want %s", name, f.Class, tc.want)
		}
	}
}

// TestA11EventsHaveTheirOwnStatus: an error inside a 200 is classed by what it says itself.
func TestA11EventsHaveTheirOwnStatus(t *testing.T) {
	for document, want := range map[string]dialect.Class{
		`{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}`:                 dialect.ClassOverload,
		`{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED"}}`:          dialect.ClassThrottle,
		`[{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}]`:          dialect.ClassPermanent,
		`{"error":{"code":14,"message":"m"}}`:                                         dialect.ClassOverload,
		`{"error":{"code":8,"message":"m"}}`:                                          dialect.ClassThrottle,
		`{"error":{"message":"m","status":"DEADLINE_EXCEEDED"}}`:                      dialect.ClassTransient,
		`{"event_type":"error","error":{"code":"not_found","message":"m"}}`:           dialect.ClassPermanent,
		`{"event_type":"error","error":{"code":"rate_limit_exceeded","message":"m"}}`: dialect.ClassThrottle,
		`{"error":{}}`: dialect.ClassTransient,
	} {
		if f := classifyEvent([]byte(document)); f.Class != want {
			t.Errorf("%s: %s, want %s", document, f.Class, want)
		}
	}
}

// TestNamedBudgets: the budget all exceeded quotas are of, else none.
func TestNamedBudgets(t *testing.T) {
	metric := func(names ...string) string {
		var out []string
		for _, n := range names {
			out = append(out, `{"quotaMetric":"`+n+`"}`)
		}
		return exhausted("m", `{"violations":[`+strings.Join(out, ",")+`]}`)
	}
	for body, want := range map[string]string{
		metric("generativelanguage.googleapis.com/generate_content_free_tier_requests"):                           "Requests",
		metric("generativelanguage.googleapis.com/generate_content_paid_tier_input_token_count"):                  "InputTokens",
		metric("aiplatform.googleapis.com/global_online_prediction_tokens_per_minute"):                            "Tokens",
		metric("g.com/generate_content_free_tier_requests", "g.com/generate_content_free_tier_input_token_count"): "",
		exhausted("m", violation("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "")):                     "Requests",
		exhausted("m", `{"violations":[{"quotaId":"GenerateContentPaidTierInputTokensPerModelPerMinute"}]}`):      "InputTokens",
		exhausted("m", ""): "",
	} {
		if f, _ := read(http.StatusTooManyRequests, body); f.Budget != want {
			t.Errorf("%s: %q, want %q", body, f.Budget, want)
		}
	}
}

// TestRefusalsHaveGooglesShape, with the wait where its SDKs look for it.
func TestRefusalsHaveGooglesShape(t *testing.T) {
	for status, want := range map[int]string{
		429: `{"error":{"code":429,"message":"headgate: m","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"27s"}]}}`,
		503: `{"error":{"code":503,"message":"headgate: m","status":"UNAVAILABLE","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"27s"}]}}`,
	} {
		got, h, body := Dialect{}.Refusal(dialect.Refusal{Status: status, Message: "headgate: m", RetryAfter: 26001 * time.Millisecond})
		if got != status || string(body) != want || h.Get("Retry-After") != "27" {
			t.Errorf("%d %v %s", got, h, body)
		}
		if f, r := read(status, string(body)); r.RetryAfter != 27*time.Second || f.Message != "headgate: m" {
			t.Errorf("read again: %+v %+v", f, r)
		}
	}
}

// TestCredentials: one of them, where the provider takes it, wherever the app had its own.
func TestCredentials(t *testing.T) {
	for key, want := range map[string]http.Header{
		"AIzaSyExample\n":  {"X-Goog-Api-Key": {"AIzaSyExample"}},
		"AQ.Example":       {"X-Goog-Api-Key": {"AQ.Example"}},
		"ya29.Example":     {"Authorization": {"Bearer ya29.Example"}},
		"eyJhbGciOi.e.s":   {"Authorization": {"Bearer eyJhbGciOi.e.s"}},
		"Bearer a-token\n": {"Authorization": {"Bearer a-token"}},
	} {
		h := http.Header{"Authorization": {"Bearer app"}, "X-Goog-Api-Key": {"app"}}
		query := Dialect{}.SetCredential(h, "alt=sse&key=app&access_token=app", key)
		if query != "alt=sse" || len(h) != 1 || h.Get("Authorization") != want.Get("Authorization") || h.Get(KeyHeader) != want.Get(KeyHeader) {
			t.Errorf("%q: %v, query %q", key, h, query)
		}
	}
	d := Dialect{}
	in := d.Fingerprint(http.Header{}, "key=a")
	if in == 0 || in == d.Fingerprint(http.Header{}, "key=b") || d.Fingerprint(http.Header{}, "alt=sse") != 0 {
		t.Error("keys in the query are not told apart")
	}
	if d.Fingerprint(http.Header{KeyHeader: {"a"}}, "") == d.Fingerprint(http.Header{KeyHeader: {"b"}}, "") {
		t.Error("keys in the header are not told apart")
	}
}

// FuzzError: no body makes a wait that is negative or comes from nothing, nor a long code.
func FuzzError(f *testing.F) {
	f.Add(exhausted("Please retry in 10h17m5.7s", retryInfo(`"34.07s"`)+","+violation("PerDay", `,"quotaValue":"0"`)))
	f.Add(`[{"error":{"code":8,"details":[{"details":[{"details":[{"retryDelay":{"seconds":-1,"nanos":-1}}]}]}]}}]`)
	f.Add(`"{\"error\":{\"message\":\"limit: 0\"}}"`)
	f.Add(`{"error":{"details":[{"metadata":{"quotaResetDelay":"1h","quotaResetTimeStamp":"9999-12-31T23:59:59Z"}}]}}`)
	f.Fuzz(func(t *testing.T, body string) {
		failure, r := read(http.StatusTooManyRequests, body)
		if r.RetryAfter < 0 || r.RetryAfter > guidance.Longest || r.Source == dialect.SourceNone && r.RetryAfter != 0 {
			t.Errorf("%v from %s", r.RetryAfter, r.Source)
		}
		if len(failure.Code) > 64 || failure.Class == dialect.ClassSuccess {
			t.Errorf("%+v", failure)
		}
		classifyEvent([]byte(body))
	})
}
