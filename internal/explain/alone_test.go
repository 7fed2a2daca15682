// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/explain"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/registry"
)

// TestWhatSDKsDoAlone: what each library does with waits around its cap, and whether that is early.
func TestWhatSDKsDoAlone(t *testing.T) {
	const (
		early  = "EARLY: refused again"
		inTime = "in time"
	)
	cases := []struct {
		dialect, sdk, response string
		does, verdict          string
	}{
		{"OpenAI", "openai-python", "429\nRetry-After: 120", "retries after 2m", inTime},
		{"OpenAI", "openai-python", "429\nRetry-After: 121", "gives the error to the app: 2m1s is above its 2m", "-"},
		{"OpenAI", "openai-node", "429\nRetry-After: 60", "retries after 1m", inTime},
		{"OpenAI", "openai-node", "429\nRetry-After: 61", "ignores 1m1s and retries after 375ms to 500ms", early},
		{"OpenAI", "openai-go", "429\nRetry-After: 9", "cuts 9s to 8s and retries then", early},
		{"OpenAI", "openai-go", "429\nRetry-After-Ms: 1200\nRetry-After: 9", "retries after 1.2s", inTime},
		{"OpenAI", "openai-node", "429\nRetry-After: 5\nX-Should-Retry: false", "gives the error to the app, as x-should-retry says", "-"},
		{"OpenAI", "openai-node", "400\nX-Should-Retry: true", "retries after 375ms to 500ms", "in vain: the same call fails again"},
		{"OpenAI", "ai (Vercel)", "429\nRetry-After: 60", "ignores 1m and retries after 2s", early},
		{"OpenAI", "ai (Vercel)", "429\nRetry-After: 59\nX-Should-Retry: false", "retries after 59s", inTime},
		{"OpenAI", "@langchain/core", "429\nRetry-After: 9", "retries after 1s to 2s, as 9s is below its 1m", early},
		{"OpenAI", "@langchain/core", "429\nRetry-After: 61", "gives the error to the app: 1m1s is above its 1m", "-"},
		{"OpenAI", "@langchain/core", "429", "gives the error to the app: no wait is stated", "-"},
		{"OpenAI", "@langchain/core", "500", "retries after 1s to 2s", "a guess"},
		{"OpenAI", "litellm", "429\nRetry-After-Ms: 900\nRetry-After: 2", "retries after 2s to 2.75s", inTime},
		{"Anthropic", "anthropic-sdk-go", "429\nRetry-After: 600", "retries after 10m", inTime},
		{"Anthropic", "anthropic-python", "429\nRetry-After: 600", "ignores 10m and retries after 375ms to 500ms", early},
		{"Gemini", "google-genai", "503", "gives the error to the app: it retries only when told to", "-"},
		{"Gemini", "langchain-google-genai", "503", "retries after a backoff of its own", "-"},
		{"Mistral", "mistralai", "429", "gives the error to the app: it retries only when told to", "-"},
		{"Cohere", "cohere", "429\nRetry-After: 61", "cuts 1m1s to 1m and retries then", early},
		{"Bedrock", "botocore", "429", "retries after 0s to 1s", "a guess"},
		{"Bedrock", "aws-sdk-go-v2", "409", "gives the error to the app: it does not retry 409", "-"},
	}
	for _, tc := range cases {
		resp, err := explain.ReadResponse(strings.NewReader("HTTP/1.1 "+tc.response+"\n\n"), received)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := explain.Text(&out, registry.ByName(tc.dialect), resp); err != nil {
			t.Fatal(err)
		}
		row := ""
		for line := range strings.Lines(out.String()) {
			if strings.HasPrefix(line, "  "+tc.sdk) {
				row = line
			}
		}
		if !strings.Contains(row, "  "+tc.does+"  ") || !strings.Contains(row, "  "+tc.verdict+"  ") {
			t.Errorf("%s, %q: want %q, %q in\n%s", tc.sdk, tc.response, tc.does, tc.verdict, row)
		}
	}
}
