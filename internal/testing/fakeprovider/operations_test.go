// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// TestOperationsBesidesChat: each answers in its own shape, costs what it should, and has no output to charge.
func TestOperationsBesidesChat(t *testing.T) {
	const embed = `{"model":"m","input":["12345678","1234"]}`
	for name, tc := range map[string]struct {
		method, path, body string
		operation          string
		input              int64
		free               bool
		want               string
	}{
		"Gemini embeds one": {
			path: "/_p/gemini/v1beta/models/m:embedContent", body: `{"content":{"parts":[{"text":"12345678"}]},"outputDimensionality":2}`,
			operation: "embeddings", input: 2, want: `{"embedding":{"values":[0.70710677,0.70710677]}}`,
		},
		"Gemini embeds several": {
			path:      "/_p/gemini/v1beta/models/m:batchEmbedContents",
			body:      `{"requests":[{"content":{"parts":[{"text":"1234"}]},"outputDimensionality":1},{"content":{"parts":[{"text":"1234"}]}}]}`,
			operation: "embeddings", input: 2, want: `{"embeddings":[{"values":[1]},{"values":[1]}]}`,
		},
		"Gemini counts": {
			path: "/_p/gemini/v1beta/models/m:countTokens", body: `{"contents":[{"parts":[{"text":"12345678"}]}]}`,
			operation: "count_tokens", input: 2, free: true, want: `{"totalTokens":2,`,
		},
		"Gemini counts a whole request": {
			path:      "/_p/gemini/v1beta/models/m:countTokens",
			body:      `{"generateContentRequest":{"contents":[{"parts":[{"text":"1234"}]}],"systemInstruction":{"parts":[{"text":"1234"}]}}}`,
			operation: "count_tokens", input: 2, free: true, want: `{"totalTokens":2,`,
		},
		"Gemini lists models": {
			method: http.MethodGet, path: "/_p/gemini/v1beta/models", operation: "models", free: true, want: `"name":"models/gemini`,
		},
		"Vertex AI predicts": {
			path:      "/_p/vertexai/v1/projects/p/locations/l/publishers/google/models/m:predict",
			body:      `{"instances":[{"content":"12345678"}],"parameters":{"outputDimensionality":1}}`,
			operation: "embeddings", input: 2, want: `{"predictions":[{"embeddings":{"values":[1],"statistics":{"token_count":2,"truncated":false}}}]}`,
		},
		"Vertex AI counts for Anthropic": {
			path: "/_p/vertexai/v1/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict",
			body: `{"model":"m","messages":[{"content":"12345678"}]}`, operation: "count_tokens", input: 2, free: true, want: `{"input_tokens":2}`,
		},
		"Bedrock counts": {
			path: "/_p/bedrock/model/m/count-tokens", body: `{"input":{"converse":{"messages":[{"content":[{"text":"12345678"}]}]}}}`,
			operation: "count_tokens", input: 2, free: true, want: `{"inputTokens":2}`,
		},
		"Bedrock embeds": {
			path: "/_p/bedrock/model/amazon.titan-embed-text-v2:0/invoke", body: `{"inputText":"12345678"}`,
			operation: "invoke", input: 2, want: `"inputTextTokenCount":2}`,
		},
		"Cohere embeds": {
			path: "/_p/cohere/v2/embed", body: `{"model":"m","texts":["12345678","1234"],"input_type":"search_query"}`,
			operation: "embeddings", input: 3, want: `"billed_units":{"input_tokens":3}`,
		},
		"Cohere ranks": {
			path: "/_p/cohere/v2/rerank", body: `{"model":"m","query":"1234","documents":["1234","1234"]}`,
			operation: "rerank", input: 3, want: `"results":[{"index":0,"relevance_score":1},{"index":1,"relevance_score":0.5}]`,
		},
		"Azure embeds": {
			path: "/_p/azureopenai/openai/deployments/d/embeddings?api-version=v", body: `{"input":["12345678","1234"]}`,
			operation: "embeddings", input: 3, want: `"usage":{"prompt_tokens":3,"total_tokens":3}`,
		},
		"Mistral embeds": {
			path: "/_p/mistral/v1/embeddings", body: embed, operation: "embeddings", input: 3, want: `"prompt_tokens":3`,
		},
		"Mistral fills in the middle": {
			path: "/_p/mistral/v1/fim/completions", body: `{"model":"m","prompt":"1234","suffix":"1234","max_tokens":1}`,
			operation: "completions", input: 2, want: `"content":"aaa "`,
		},
		"Ollama embeds": {
			path: "/_p/selfhosted/api/embed", body: embed, operation: "embeddings", input: 3, want: `"prompt_eval_count":3}`,
		},
		"Ollama generates": {
			path: "/_p/selfhosted/api/generate", body: `{"model":"m","prompt":"12345678","stream":false,"options":{"num_predict":1}}`,
			operation: "generate", input: 2, want: `"response":"aaa ","done":true,"done_reason":"length"`,
		},
		"TGI at its root": {
			path: "/_p/selfhosted/", body: `{"inputs":"12345678","parameters":{"max_new_tokens":1}}`,
			operation: "generate", input: 2, want: `{"generated_text":"aaa "}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			provider := fakeprovider.New(fakeprovider.Options{})
			if tc.method == "" {
				tc.method = http.MethodPost
			}
			r := httptest.NewRequest(tc.method, tc.path, strings.NewReader(tc.body))
			r.Header.Set("Authorization", "Bearer sk-test")
			w := httptest.NewRecorder()
			provider.ServeHTTP(w, r)
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), tc.want) {
				t.Errorf("status %d, want %s in %s", w.Code, tc.want, w.Body)
			}
			a := provider.Arrivals()[0]
			if a.Operation != tc.operation || tc.input != 0 && a.InputTokens != tc.input {
				t.Errorf("arrival = %+v", a)
			}
			if a.Operation == "embeddings" && a.OutputTokens+a.AllowedTokens != 0 {
				t.Errorf("embeddings were charged output: %+v", a)
			}
			if charged := len(provider.Stats().Accounts) > 0; charged == tc.free {
				t.Errorf("charged: %v", charged)
			}
		})
	}
}

// TestMediaPartsOfEveryShape: a part that is not text costs the same in each API's writing of it, and its bytes are
// not taken for text.
func TestMediaPartsOfEveryShape(t *testing.T) {
	data := strings.Repeat("QUJD", 1_000)
	for path, body := range map[string]string{
		"/_p/gemini/v1beta/models/m:generateContent": `{"contents":[{"parts":[{"inlineData":{"mimeType":"image/png","data":"` + data + `"}}]}]}`,
		"/_p/bedrock/model/m/converse":               `{"messages":[{"content":[{"image":{"format":"png","source":{"bytes":"` + data + `"}}}]}]}`,
		"/_p/selfhosted/api/chat":                    `{"model":"m","messages":[{"content":"","images":["` + data + `"]}]}`,
		"/_p/groq/openai/v1/chat/completions":        `{"model":"m","messages":[{"content":[{"type":"image_url","image_url":{"url":"` + data + `"}}]}]}`,
	} {
		provider := fakeprovider.New(fakeprovider.Options{})
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer sk-test")
		provider.ServeHTTP(httptest.NewRecorder(), r)
		if a := provider.Arrivals()[0]; a.InputTokens != 1_000 || a.Status != http.StatusOK {
			t.Errorf("%s: arrival = %+v", path, a)
		}
	}
}
