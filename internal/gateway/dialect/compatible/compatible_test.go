// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package compatible

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
	"github.com/headgate-dev/headgate/internal/plan"
)

// plainest is a provider that differs from OpenAI in nothing but its name.
var plainest = Dialect{Spec: Spec{Name: "Groq", Version: "/v1"}}

func fail(d Dialect, status int, body string) (dialect.Failure, dialect.Reading) {
	r := dialect.Reading{Source: dialect.SourceNone}
	return d.ReadFailure(status, http.Header{}, []byte(body), &r), r
}

// TestBudgetsInWords: a refusal that names a budget lowers that budget alone, however the provider puts it.
func TestBudgetsInWords(t *testing.T) {
	for message, want := range map[string]string{
		"have exceeded token rate limit of your current OpenAI S0 pricing tier": plan.Tokens,
		"have exceeded call rate limit of your current OpenAI S0 pricing tier":  plan.Requests,
		"on tokens per minute (TPM): Limit 6000; 30 requests per minute":        plan.Tokens,
		"Requests per minute limit exceeded, whatever the tokens per minute":    plan.Requests,
		"Rate limit reached: 50,000 input tokens per minute":                    plan.InputTokens,
		"Rate limit exceeded: generated tokens per minute":                      plan.OutputTokens,
		"Requests per Second (actual/limit): 2/2":                               plan.Requests,
		"Request rate limit exceeded, please try again later.":                  plan.Requests,
		"limit reached (RPM)": plan.Requests,
		"Too many requests":   "",
		"":                    "",
		strings.Repeat("x", maxWords) + "tokens per minute": "",
	} {
		f, _ := fail(plainest, http.StatusTooManyRequests, `{"error":{"message":`+strconv.Quote(message)+`}}`)
		if f.Budget != want {
			t.Errorf("%.80q names %q, want %q", message, f.Budget, want)
		}
	}
	if f, _ := fail(plainest, http.StatusBadRequest, `{"error":{"message":"at most 100 tokens per call"}}`); f.Budget != "" {
		t.Errorf("a bad request names %q", f.Budget)
	}
}

// TestErrorsOfEveryShape: a body that is a string or nothing has a message, too, or none.
func TestErrorsOfEveryShape(t *testing.T) {
	for body, want := range map[string]string{
		`"out of luck"`:                 "out of luck",
		`{"error":"out of luck"}`:       "out of luck",
		`{"message":"out of luck"}`:     "out of luck",
		`[{"error":{"message":"oh"}}]`:  "oh",
		``:                              "",
		`<html>429</html>`:              "",
		`"{\"error\":\"out of luck\"}"`: "out of luck",
		`17`:                            "",
	} {
		if f, _ := fail(plainest, http.StatusTooManyRequests, body); f.Message != want || f.Class != dialect.ClassThrottle {
			t.Errorf("%s: %+v, want %q", body, f, want)
		}
	}
}

// TestA11EventsHaveTheStatusTheyName: an error within a stream is what the same error would have been before it.
func TestA11EventsHaveTheStatusTheyName(t *testing.T) {
	for event, want := range map[string]dialect.Class{
		`{"error":{"code":429,"message":"x"}}`:                            dialect.ClassThrottle,
		`{"error":{"code":"503","message":"x"}}`:                          dialect.ClassOverload,
		`{"error":{"code":402,"message":"x"}}`:                            dialect.ClassQuota,
		`{"error":{"code":400,"message":"x"}}`:                            dialect.ClassPermanent,
		`{"error":{"code":200,"message":"x"}}`:                            dialect.ClassTransient,
		`{"error":{"code":4290,"message":"x"}}`:                           dialect.ClassTransient,
		`{"error":{"code":"rate_limit_exceeded","type":"tokens"}}`:        dialect.ClassThrottle,
		`{"error":{"code":"insufficient_quota"}}`:                         dialect.ClassQuota,
		`{"error":{"type":"invalid_request_error","message":"too long"}}`: dialect.ClassPermanent,
	} {
		if f := plainest.classifyEvent([]byte(event)); f.Class != want {
			t.Errorf("%s: %s, want %s", event, f.Class, want)
		}
	}
}

// TestB5UsageIsAskedForWhereItIsTaken, and taken out again only where it was asked for.
func TestB5UsageIsAskedForWhereItIsTaken(t *testing.T) {
	body := []byte(`{"model":"m","stream":true,"messages":[]}`)
	chat := dialect.Operation{Name: "chat", Format: dialect.FormatChat, Metered: true}
	const chunk = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}\n\n"
	for _, silent := range []bool{false, true} {
		d := Dialect{Spec: Spec{Name: "Mistral", Version: "/v1", NoUsageOption: silent}}
		if _, asks := d.InjectUsage(chat, body); asks == silent {
			t.Errorf("NoUsageOption %v asks: %v", silent, asks)
		}
		if got := d.ReadRequest(chat, "application/json", body).WantsUsage; got != silent {
			t.Errorf("NoUsageOption %v: the client wants usage: %v", silent, got)
		}
		m := d.NewMeter(chat, http.Header{"Content-Type": {"text/event-stream"}}, dialect.MeterOptions{Stream: true, StripUsage: true})
		passed := string(append(append([]byte(nil), m.Write([]byte(chunk))...), m.Close()...))
		if (passed == chunk) != silent || m.Usage().Output != 2 {
			t.Errorf("NoUsageOption %v passes %q with %+v", silent, passed, m.Usage())
		}
	}
	messages := Messages
	if r := plainest.ReadRequest(messages, "application/json", body); !r.WantsUsage {
		t.Error("streams of messages report usage unasked")
	}
}

// TestBucketsOfADayAreQuota, and those of an hour are not; a limit of nothing is told from one that is used up.
func TestBucketsOfADayAreQuota(t *testing.T) {
	for _, tc := range []struct {
		b                    dialect.BudgetReading
		exhausted, forbidden bool
	}{
		{dialect.BudgetReading{Window: Day, Limit: 10, Remaining: 0}, true, false},
		{dialect.BudgetReading{Window: Month, Limit: 10, Remaining: 0}, true, false},
		{dialect.BudgetReading{Window: Day, Limit: 10, Remaining: -1}, false, false},
		{dialect.BudgetReading{Window: Day, Limit: 10, Remaining: 1}, false, false},
		{dialect.BudgetReading{Window: time.Hour, Limit: 10, Remaining: 0}, false, false},
		{dialect.BudgetReading{Window: time.Minute, Limit: 0, Remaining: 0}, false, true},
		{dialect.BudgetReading{Window: time.Minute, Limit: -1, Remaining: 5}, false, false},
	} {
		f := Failed{Budgets: []dialect.BudgetReading{tc.b}}
		if f.Exhausted() != tc.exhausted || f.Forbidden() != tc.forbidden {
			t.Errorf("%+v: exhausted %v, forbidden %v", tc.b, f.Exhausted(), f.Forbidden())
		}
	}
}

// TestRenewalPeriods: a stated window beats the table's; what cannot be read or is nothing does not.
func TestRenewalPeriods(t *testing.T) {
	table := []guidance.Triple{Bucket(plan.Requests, "", "Requests", time.Minute), Bucket(plan.Tokens, "", "Tokens", time.Minute)}
	for value, want := range map[string]time.Duration{
		"10": 10 * time.Second, "86400": Day, "0": time.Minute, "soon": time.Minute, "-5": time.Minute, "": time.Minute,
	} {
		h := http.Header{
			"X-Ratelimit-Limit-Requests": {"5"}, "X-Ratelimit-Limit-Tokens": {"9"}, "X-Ratelimit-Renewalperiod-Requests": {" " + value + " "},
		}
		r := guidance.Read(http.StatusOK, h, time.Time{}, table)
		RenewalPeriods(h, &r)
		if len(r.Budgets) != 2 || r.Budgets[0].Window != want || r.Budgets[1].Window != time.Minute {
			t.Errorf("%q: %+v, want %v", value, r.Budgets, want)
		}
	}
}

// TestCopiedHeadersAreBounded: a body cannot make a gateway hold any number of headers.
func TestCopiedHeadersAreBounded(t *testing.T) {
	var members []string
	for i := range 100 {
		members = append(members, `"h`+strconv.Itoa(i)+`":"1"`)
	}
	d := document(nil, []byte(`{"error":{"metadata":{"headers":{`+strings.Join(members, ",")+`}}}}`))
	if h := (Failed{Document: d}).Copied("metadata.headers"); len(h) != maxCopied {
		t.Errorf("%d headers", len(h))
	}
	for _, body := range []string{`{"error":{"metadata":{"headers":"x"}}}`, `{"error":{"metadata":{"headers":null}}}`, `{}`, `x`} {
		h := (Failed{Document: document(nil, []byte(body))}).Copied("metadata.headers")
		if h.Get("X-Ratelimit-Limit") != "" || len(h) > 1 {
			t.Errorf("%s: %v", body, h)
		}
	}
}
