// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider_test

import (
	"bytes"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGoldenShapes pins every byte of an answer: status, headers and body of each endpoint and failure.
func TestGoldenShapes(t *testing.T) {
	const (
		chat     = `{"model":"gpt-4.1","max_tokens":3,"messages":[{"role":"user","content":"12345678"}]}`
		message  = `{"model":"claude-sonnet-4-5","max_tokens":3,"messages":[{"role":"user","content":"12345678"}]}`
		respond  = `{"model":"gpt-4.1","input":"12345678[[output=2]]"}`
		embed    = `{"model":"text-embedding-3-small","input":["1234"],"dimensions":3}`
		legacy   = `{"model":"gpt-3.5-turbo-instruct","prompt":"1234","max_tokens":2}`
		bigChat  = `{"model":"gpt-4.1","max_tokens":3,"messages":[{"content":"[[input=60000]]"}]}`
		hugeChat = `{"model":"gpt-4.1","max_tokens":3,"messages":[{"content":"[[input=512000]]"}]}`
		bigText  = `{"model":"claude-sonnet-4-5","max_tokens":3,"messages":[{"content":"[[input=60000]]"}]}`
	)
	streamed := func(body string) string { return strings.Replace(body, "{", `{"stream":true,`, 1) }
	usage := func(body string) string {
		return strings.Replace(streamed(body), "{", `{"stream_options":{"include_usage":true},`, 1)
	}
	for name, tc := range map[string]struct {
		path, body string
		percent    float64
		fault      fakeprovider.FaultKind
	}{
		"openai-chat":                   {path: "/v1/chat/completions", body: chat, percent: 100},
		"openai-chat-stream":            {path: "/v1/chat/completions", body: streamed(chat), percent: 100},
		"openai-chat-stream-usage":      {path: "/v1/chat/completions", body: usage(chat), percent: 100},
		"openai-chat-429":               {path: "/v1/chat/completions", body: bigChat},
		"openai-chat-429-never":         {path: "/v1/chat/completions", body: hugeChat},
		"openai-chat-quota":             {path: "/v1/chat/completions", body: chat, fault: fakeprovider.FaultQuota},
		"openai-chat-503":               {path: "/v1/chat/completions", body: chat, fault: fakeprovider.FaultOverload},
		"openai-chat-429-unguided":      {path: "/v1/chat/completions", body: chat, fault: fakeprovider.FaultThrottle},
		"openai-chat-stream-overload":   {path: "/v1/chat/completions", body: streamed(chat), percent: 100, fault: fakeprovider.FaultStreamOverload},
		"openai-responses":              {path: "/v1/responses", body: respond, percent: 100},
		"openai-responses-stream":       {path: "/v1/responses", body: streamed(respond), percent: 100},
		"openai-responses-stream-error": {path: "/v1/responses", body: streamed(respond), percent: 100, fault: fakeprovider.FaultStreamOverload},
		"openai-embeddings":             {path: "/v1/embeddings", body: embed, percent: 100},
		"openai-completions":            {path: "/v1/completions", body: legacy, percent: 100},
		"openai-completions-stream":     {path: "/v1/completions", body: usage(legacy), percent: 100},
		"anthropic-messages":            {path: "/v1/messages", body: message, percent: 100},
		"anthropic-messages-stream":     {path: "/v1/messages", body: streamed(message), percent: 100},
		"anthropic-messages-429":        {path: "/v1/messages", body: bigText},
		"anthropic-messages-529":        {path: "/v1/messages", body: message, fault: fakeprovider.FaultOverload},
		"anthropic-messages-quota":      {path: "/v1/messages", body: message, fault: fakeprovider.FaultQuota},
		"anthropic-stream-overload":     {path: "/v1/messages", body: streamed(message), percent: 100, fault: fakeprovider.FaultStreamOverload},
		"generic-echo":                  {path: "/generic/any", body: "{}", percent: 100},
		"generic-429":                   {path: "/generic/any", body: "{}"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := fakeprovider.New(fakeprovider.Options{})
				s.SetLevel("", tc.percent)
				if tc.fault != "" {
					inject(t, s, fakeprovider.Fault{Kind: tc.fault})
				}
				compareGolden(t, name, dump(t, s, tc.path, tc.body))
			})
		})
	}
}

// dump is an answer as it goes over the wire, headers in order of their names.
func dump(t *testing.T, h http.Handler, path, body string) []byte {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer sk-test")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var out bytes.Buffer
	out.WriteString(http.StatusText(w.Code) + "\n")
	if err := w.Header().Write(&out); err != nil {
		t.Fatal(err)
	}
	out.WriteString("\n" + w.Body.String())
	return bytes.ReplaceAll(out.Bytes(), []byte("\r\n"), []byte("\n"))
}

func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
