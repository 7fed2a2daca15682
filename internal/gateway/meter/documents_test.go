// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// TestDocumentsOfEachFormat: usage in bodies and headers.
func TestDocumentsOfEachFormat(t *testing.T) {
	usage := func(input, output, read, write, reasoning int64, outside bool) dialect.Usage {
		return ended(input, output, read, write, reasoning, outside, 0).Usage
	}
	for name, tc := range map[string]struct {
		format, name, text string
		headers            map[string]string
		want               dialect.Usage
	}{
		"Gemini": {
			"generate", "generate", `{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":3,"thoughtsTokenCount":4,"cachedContentTokenCount":5,"toolUsePromptTokenCount":2}}`,
			nil, usage(12, 7, 5, -1, 4, false),
		},
		"Gemini, thoughts only":  {"generate", "generate", `{"candidates":[{"finishReason":"MAX_TOKENS"}],"usageMetadata":{"promptTokenCount":10,"thoughtsTokenCount":4}}`, nil, usage(10, 4, -1, -1, 4, false)},
		"Gemini, blocked":        {"generate", "generate", `{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":10}}`, nil, usage(10, -1, -1, -1, -1, false)},
		"Gemini's embeddings":    {"generate", "embeddings", `{"embedding":{"values":[0.1,0.2]}}`, nil, dialect.Unknown()},
		"Converse":               {"converse", "converse", `{"output":{"message":{"content":[{"text":"a"}]}},"stopReason":"end_turn","usage":{"inputTokens":7,"outputTokens":3,"totalTokens":1550,"cacheReadInputTokens":1024,"cacheWriteInputTokens":516}}`, nil, usage(7, 3, 1024, 516, -1, true)},
		"Invoke, by headers":     {"invoke", "invoke", `{"outputs":[{"text":"a","stop_reason":"stop"}]}`, map[string]string{"X-Amzn-Bedrock-Input-Token-Count": "12", "X-Amzn-Bedrock-Output-Token-Count": " 4 ", "X-Amzn-Bedrock-Cache-Read-Input-Token-Count": "100", "X-Amzn-Bedrock-Cache-Write-Input-Token-Count": "0"}, usage(12, 4, 100, 0, -1, true)},
		"Invoke, other names":    {"invoke", "invoke", `{}`, map[string]string{"X-Amzn-Bedrock-Input-Token-Count": "12", "X-Amzn-Bedrock-Cache-Read-Token-Count": "9", "X-Amzn-Bedrock-Cache-Write-Token-Count": "8"}, usage(12, -1, 9, 8, -1, true)},
		"Invoke, absurd headers": {"invoke", "invoke", `{}`, map[string]string{"X-Amzn-Bedrock-Input-Token-Count": "9999999999", "X-Amzn-Bedrock-Output-Token-Count": "7"}, usage(-1, 7, -1, -1, -1, true)},
		"Chat, absurd counts":    {"chat", "chat", `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1e30}}`, nil, usage(5, -1, -1, -1, -1, false)},
		"Invoke, bad headers":    {"invoke", "invoke", `{}`, map[string]string{"X-Amzn-Bedrock-Input-Token-Count": "-12", "X-Amzn-Bedrock-Output-Token-Count": "1e3"}, dialect.Unknown()},
		"Invoke, Anthropic":      {"invoke", "invoke", `{"type":"message","usage":{"input_tokens":7,"output_tokens":3,"cache_read_input_tokens":9}}`, nil, usage(7, 3, 9, -1, -1, true)},
		"Invoke, Nova":           {"invoke", "invoke", `{"output":{},"usage":{"inputTokens":7,"outputTokens":3,"cacheReadInputTokenCount":1}}`, nil, usage(7, 3, 1, -1, -1, true)},
		"Invoke, Llama":          {"invoke", "invoke", `{"generation":"a","prompt_token_count":7,"generation_token_count":3}`, nil, usage(7, 3, -1, -1, -1, false)},
		"Invoke, Titan":          {"invoke", "invoke", `{"inputTextTokenCount":5,"results":[{"tokenCount":55,"outputText":"a"}]}`, nil, usage(5, 55, -1, -1, -1, false)},
		"Invoke, OpenAI":         {"invoke", "invoke", `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":6}}`, nil, usage(5, 6, -1, -1, -1, false)},
		"Invoke, embeddings":     {"invoke", "embeddings", `{"embedding":[0.5],"inputTextTokenCount":5}`, nil, usage(5, 0, -1, -1, -1, false)},
		"Cohere":                 {"cohere", "chat", `{"id":"c","message":{"content":[{"text":"a"}]},"usage":{"billed_units":{"input_tokens":5,"output_tokens":4},"tokens":{"input_tokens":71,"output_tokens":6},"cached_tokens":16}}`, nil, usage(71, 6, 16, -1, -1, false)},
		"Cohere, billed only":    {"cohere", "chat", `{"usage":{"billed_units":{"input_tokens":5,"output_tokens":4}}}`, nil, usage(5, 4, -1, -1, -1, false)},
		"Cohere, first version":  {"cohere", "chat", `{"text":"a","meta":{"billed_units":{"input_tokens":5,"output_tokens":4},"tokens":{"input_tokens":71,"output_tokens":6}}}`, nil, usage(71, 6, -1, -1, -1, false)},
		"Cohere's embeddings":    {"cohere", "embeddings", `{"embeddings":{"float":[[0.1]]},"meta":{"billed_units":{"input_tokens":9}}}`, nil, usage(9, 0, -1, -1, -1, false)},
		"Cohere's ranks":         {"cohere", "other", `{"results":[],"meta":{"billed_units":{"search_units":1}}}`, nil, dialect.Unknown()},
		"Ollama":                 {"ollama", "chat", `{"message":{"content":"a"},"done":true,"prompt_eval_count":26,"eval_count":298}`, nil, usage(26, 298, -1, -1, -1, false)},
		"Ollama, prompt cached":  {"ollama", "chat", `{"response":"a","done":true,"eval_count":298}`, nil, usage(-1, 298, -1, -1, -1, false)},
		"Ollama's embeddings":    {"ollama", "embeddings", `{"embeddings":[[0.1,0.2]],"prompt_eval_count":8}`, nil, usage(8, 0, -1, -1, -1, false)},
		"TGI":                    {"tgi", "other", `{"generated_text":"a","details":{"finish_reason":"length","generated_tokens":20,"prefill":[{"id":1},{"id":2}]}}`, nil, usage(2, 20, -1, -1, -1, false)},
		"TGI, without details":   {"tgi", "other", `{"generated_text":"a"}`, nil, dialect.Unknown()},
		"TGI, by headers":        {"tgi", "other", `{"generated_text":"a"}`, map[string]string{"X-Prompt-Tokens": "6", "X-Generated-Tokens": "20"}, usage(6, 20, -1, -1, -1, false)},
		"TGI, in an array":       {"tgi", "other", `[{"generated_text":"a","details":{"generated_tokens":20,"prefill":[]}}]`, nil, usage(-1, 20, -1, -1, -1, false)},
		"Groq":                   {"chat", "chat", `{"choices":[],"usage":{"prompt_tokens":41,"completion_tokens":5,"total_tokens":46},"x_groq":{"id":"r"}}`, nil, usage(41, 5, -1, -1, -1, false)},
		"Mistral, older":         {"chat", "chat", `{"usage":{"prompt_tokens":41,"completion_tokens":5,"num_cached_tokens":32}}`, nil, usage(41, 5, 32, -1, -1, false)},
		"Together":               {"chat", "chat", `{"usage":{"prompt_tokens":41,"completion_tokens":5,"cached_tokens":30}}`, nil, usage(41, 5, 30, -1, -1, false)},
		"OpenRouter":             {"chat", "chat", `{"usage":{"prompt_tokens":41,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":30,"cache_write_tokens":7}}}`, nil, usage(41, 5, 30, 7, -1, false)},
		"xAI":                    {"chat", "chat", `{"usage":{"prompt_tokens":32,"completion_tokens":9,"total_tokens":135,"completion_tokens_details":{"reasoning_tokens":94}}}`, nil, usage(32, 103, -1, -1, 94, false)},
		"Gemini as OpenAI":       {"chat", "chat", `{"usage":{"prompt_tokens":20,"completion_tokens":198,"total_tokens":623}}`, nil, usage(20, 603, -1, -1, -1, false)},
		"another gap":            {"chat", "chat", `{"usage":{"prompt_tokens":20,"completion_tokens":5,"total_tokens":99,"completion_tokens_details":{"reasoning_tokens":3}}}`, nil, usage(20, 5, -1, -1, 3, false)},
		"a total that is less":   {"chat", "chat", `{"usage":{"prompt_tokens":20,"completion_tokens":5,"total_tokens":7}}`, nil, usage(20, 5, -1, -1, -1, false)},
		"OpenAI's reasoning":     {"chat", "chat", `{"usage":{"prompt_tokens":32,"completion_tokens":103,"total_tokens":135,"completion_tokens_details":{"reasoning_tokens":94}}}`, nil, usage(32, 103, -1, -1, 94, false)},
		"Perplexity's reasoning": {"chat", "chat", `{"usage":{"prompt_tokens":33,"completion_tokens":7163,"total_tokens":7196,"reasoning_tokens":73997}}`, nil, usage(33, 7163, -1, -1, 73997, false)},
		"responses":              {"responses", "responses", `{"object":"response","status":"completed","error":null,"usage":{"input_tokens":10,"output_tokens":5,"input_tokens_details":{"cached_tokens":8}}}`, nil, usage(10, 5, 8, -1, -1, false)},
	} {
		t.Run(name, func(t *testing.T) {
			for cut := range len(tc.text) + 1 {
				h := http.Header{"Content-Type": {typeJSON}}
				for k, v := range tc.headers {
					h.Set(k, v)
				}
				m := New(dialect.Operation{Name: tc.name, Format: dialect.Format(tc.format)}, h, dialect.MeterOptions{}, testClass)
				m.Write([]byte(tc.text[:cut]))
				if cut < len(tc.text) && m.Complete() {
					t.Fatalf("complete after %d of %d bytes", cut, len(tc.text))
				}
				m.Write([]byte(tc.text[cut:]))
				if rest := m.Close(); len(rest) > 0 || !m.Complete() {
					t.Fatalf("cut at %d: rest %q, complete %v", cut, rest, m.Complete())
				}
				if diff := cmp.Diff(tc.want, m.Usage()); diff != "" {
					t.Fatalf("cut at %d: (-want +got)\n%s", cut, diff)
				}
			}
		})
	}
}

// TestC3ChargedInputOfEachFormat: cached tokens inside or outside, as each format reports them.
func TestC3ChargedInputOfEachFormat(t *testing.T) {
	for file, want := range map[string][2]int64{ // with cached reads free, and counted
		"chat.sse": {11, 19}, "deepseek.sse": {56, 120}, "responses.sse": {2000, 10000}, "generate.sse": {542, 2078}, "cohere.sse": {23, 215},
		"messages.sse": {4742, 4742}, "converse.events": {559, 1583}, "invoke-messages.events": {2245, 16731}, "ollama.ndjson": {26, 26},
	} {
		u := recordings[file].want.Usage
		if got := [2]int64{u.ChargedInput(true), u.ChargedInput(false)}; got != want {
			t.Errorf("%s: %v, want %v", file, got, want)
		}
	}
}
