// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package failure

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	_ "github.com/headgate-dev/headgate/internal/testing/seed"
)

// TestShapesOfErrorBodies: the same error, however it is wrapped.
func TestShapesOfErrorBodies(t *testing.T) {
	const object = `{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}`
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte(`{"error":` + object + "}"))
	_ = z.Close()
	for name, body := range map[string]string{
		"wrapped":     `{"error":` + object + "}",
		"flat":        object,
		"in an array": `[{"error":` + object + "}]",
		"in a string": `"{\"error\":{\"message\":\"slow down\",\"type\":\"requests\",\"code\":\"rate_limit_exceeded\"}}"`,
		"compressed":  zipped.String(),
		"with a mark": " \n{\"error\":" + object + "}",
	} {
		d := Read(http.Header{}, []byte(body))
		if d.Message != "slow down" || d.Type != "requests" || d.Code != "rate_limit_exceeded" {
			t.Errorf("%s: %+v", name, d)
		}
	}
	for _, body := range []string{"", "Too Many Requests", "<html></html>", "null", "[]", "[[[[[[[[", "\x1f\x8bnot gzip", `{"error":null}`, "{"} {
		if d := Read(nil, []byte(body)); d.Message != "" || d.Code != "" {
			t.Errorf("%q: %+v", body, d)
		}
	}
	if d := Read(nil, []byte(`{"error":"Model is overloaded"}`)); d.Message != "Model is overloaded" {
		t.Errorf("a string: %+v", d)
	}
}

// TestErrorsWithinErrors: a proxy puts the provider's document into its own message.
func TestErrorsWithinErrors(t *testing.T) {
	cases := map[string]Document{
		`{"error":{"code":429,"status":"Too Many Requests","message":"\n{\"error\":{\"code\":429,\"message\":\"m\",\"status\":\"RESOURCE_EXHAUSTED\"}}\n"}}`: {
			Code: "429", Status: "RESOURCE_EXHAUSTED", Message: "m",
		},
		`{"message":"{\"error\":{\"message\":\"m\",\"type\":\"t\"}}"}`: {Message: "m", Type: "t"},
		`{"message":"{\"no\":\"error\"}"}`:                             {Message: `{"no":"error"}`},
		`{"error":"Model is overloaded","error_type":"overloaded"}`:    {Message: "Model is overloaded", Type: "overloaded"},
		`{"__type":"a#B","Message":"m"}`:                               {Message: "m"},
		`"m"`:                                                          {Message: "m"},
		`["m"]`:                                                        {Message: "m"},
		`{"detail":"m"}`:                                               {Message: "m"},
		`{"detail":[{"loc":["body"],"msg":"m"}]}`:                      {Message: "m"},
	}
	for body, want := range cases {
		d := Read(nil, []byte(body))
		if d.Code != want.Code || d.Status != want.Status || d.Message != want.Message || d.Type != want.Type {
			t.Errorf("%s: %+v", body, d)
		}
	}
}

// TestMessagesHoldNoKeys: what providers really put into their messages, and what must stay readable.
func TestMessagesHoldNoKeys(t *testing.T) {
	cases := map[string]string{
		"Incorrect API key provided: sk-proj-abc12345.":     "Incorrect API key provided: ***",
		"Incorrect API key provided: short":                 "Incorrect API key provided: ***",
		"sent Authorization: Bearer abc":                    "sent Authorization: *** ***",
		"GET https://x.example/v1?key=abc&alt=sse":          "GET https://x.example/v1?key=***&alt=sse",
		`{"api_key":"abc","model":"m"}`:                     `{"api_key":"***","model":"m"}`,
		"token 0123456789abcdef0123456789abcdef is invalid": "token *** is invalid",
		"AIzaSyA-1234 is blocked":                           "*** is blocked",
		"eyJhbGciOi.eyJzdWIi.sig expired":                   "*** expired",
		`{"token": "abc"}`:                                  `{"token": "***"}`,
		"line\none\ttab \x00 end":                           "line one tab end",
	}
	for text, want := range cases {
		if got := Message(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{
		"Rate limit reached for gpt-5-mini-2026-03-01 on tokens per min (TPM): Limit 30000, Used 29500, Requested 1121.",
		"claude-3-5-sonnet-20241022 is overloaded, see https://platform.example.com/docs/errors-and-limits",
		"organization 123e4567-e89b-12d3-a456-426614174000 is over its limit",
		"You will regain access on 2026-07-01 at 00:00 UTC.",
	} {
		if got := Message(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestNoMessageLeaksAKey: a key of any usual form, in any place, does not come out.
func TestNoMessageLeaksAKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.OneOf(
			rapid.StringMatching(`sk-(proj-|ant-api03-)?[A-Za-z0-9_]{12,160}`),
			rapid.StringMatching(`[0-9a-f]{15}[0-9][a-f][0-9a-f]{15,40}`),
			rapid.StringMatching(`AIza[A-Za-z0-9]{20,40}`),
			rapid.StringMatching(`eyJ[A-Za-z0-9]{20,80}\.eyJ[A-Za-z0-9]{20,80}\.[A-Za-z0-9]{20,80}`),
		).Draw(t, "key")
		frame := rapid.SampledFrom([]string{"%", "key %.", "(%)", "\"%\"", "?key=%&x=1", "Bearer %", "{\"token\": \"%\"}", "a,%,b", "'%' is wrong"}).Draw(t, "frame")
		before := strings.Repeat("word ", rapid.IntRange(0, 600).Draw(t, "before"))
		got := Message(before + strings.Replace(frame, "%", key, 1) + " behind")
		for i := 0; i+8 <= len(key); i += 4 {
			if strings.Contains(got, key[i:i+8]) {
				t.Fatalf("%q leaks from %q", key[i:i+8], got)
			}
		}
	})
}

// FuzzMessage: always printable, on one line and short.
func FuzzMessage(f *testing.F) {
	f.Add("Incorrect API key provided: sk-1234567890")
	f.Add(strings.Repeat("ä", 3000))
	f.Fuzz(func(t *testing.T, text string) {
		got := Message(text)
		if n := utf8.RuneCountInString(got); n > maxMessage {
			t.Errorf("%d characters", n)
		}
		for _, r := range got {
			if !unicode.IsPrint(r) {
				t.Errorf("%q is not printable", r)
			}
		}
	})
}

// FuzzRead: no body is too strange.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`[{"error":{"code":429,"details":{"error_code":"x"}}}]`))
	f.Add([]byte("\x1f\x8b\x08\x00"))
	f.Add([]byte(`{"error":{"message":"Too many concurrent requests (RPM). Retry after 5s"},"retry_after":3}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		d := Read(nil, body)
		if wait, ok := d.Advice(); wait < 0 || !ok && wait != 0 || AtOnce(d) && !strings.Contains(strings.ToLower(d.Message), atOnce) {
			t.Errorf("%+v: %v", d, wait)
		}
		f := New(ByStatus(http.StatusTooManyRequests), d)
		if f.Class != dialect.ClassThrottle && f.Class != dialect.ClassQuota && f.Class != dialect.ClassOverload || len(f.Code) > maxCode {
			t.Errorf("%+v", f)
		}
	})
}
