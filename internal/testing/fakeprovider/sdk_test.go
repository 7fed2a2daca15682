// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// start serves a provider on the loopback address until the test ends.
func start(t *testing.T, opts fakeprovider.Options) (*fakeprovider.Server, *httptest.Server) {
	t.Helper()
	provider := fakeprovider.New(opts)
	server := httptest.NewServer(provider)
	t.Cleanup(server.Close)
	return provider, server
}

func openAIClient(server *httptest.Server, opts ...openaioption.RequestOption) openai.Client {
	return openai.NewClient(append([]openaioption.RequestOption{
		openaioption.WithBaseURL(server.URL + "/v1"), openaioption.WithAPIKey("sk-test"),
		openaioption.WithMaxRetries(0),
	}, opts...)...)
}

func anthropicClient(server *httptest.Server, opts ...anthropicoption.RequestOption) anthropic.Client {
	return anthropic.NewClient(append([]anthropicoption.RequestOption{
		anthropicoption.WithBaseURL(server.URL), anthropicoption.WithAPIKey("sk-ant-test"),
		anthropicoption.WithMaxRetries(0),
	}, opts...)...)
}

func chatParams() openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:     "gpt-4.1",
		Messages:  []openai.ChatCompletionMessageParamUnion{openai.UserMessage(strings.Repeat("word ", 80))},
		MaxTokens: param.NewOpt[int64](8),
	}
}

func messageParams() anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model:     "claude-sonnet-4-5",
		MaxTokens: 8,
		Messages: []anthropic.MessageParam{
			anthropic.NewUserMessage(anthropic.NewTextBlock(strings.Repeat("word ", 80) + "[[cached=700]][[cache_write=30]]")),
		},
	}
}

func TestOpenAISDKReadsChat(t *testing.T) {
	_, server := start(t, fakeprovider.Options{})
	client := openAIClient(server)
	got, err := client.Chat.Completions.New(t.Context(), chatParams())
	if err != nil {
		t.Fatal(err)
	}
	if u := got.Usage; u.PromptTokens != 100 || u.CompletionTokens != 8 || u.TotalTokens != 108 {
		t.Errorf("usage = %d + %d = %d, want 100 + 8 = 108", u.PromptTokens, u.CompletionTokens, u.TotalTokens)
	}
	if c := got.Choices[0]; c.FinishReason != "length" || len(c.Message.Content) != 32 || c.Message.Role != "assistant" {
		t.Errorf("choice = %+v", c)
	}
}

func TestOpenAISDKReadsChatStream(t *testing.T) {
	_, server := start(t, fakeprovider.Options{})
	for name, include := range map[string]bool{"with usage": true, "without usage": false} {
		t.Run(name, func(t *testing.T) {
			params := chatParams()
			params.N = param.NewOpt[int64](2)
			if include {
				params.StreamOptions.IncludeUsage = param.NewOpt(true)
			}
			client := openAIClient(server)
			stream := client.Chat.Completions.NewStreaming(t.Context(), params)
			var acc openai.ChatCompletionAccumulator
			empty := 0
			for stream.Next() {
				if len(stream.Current().Choices) == 0 {
					empty++
				}
				if !acc.AddChunk(stream.Current()) {
					t.Fatalf("the accumulator refuses %s", stream.Current().RawJSON())
				}
			}
			if err := stream.Err(); err != nil {
				t.Fatal(err)
			}
			if len(acc.Choices) != 2 || len(acc.Choices[1].Message.Content) != 32 {
				t.Fatalf("choices = %+v", acc.Choices)
			}
			want := map[bool][2]int64{true: {16, 1}, false: {0, 0}}[include]
			if got := [2]int64{acc.Usage.CompletionTokens, int64(empty)}; got != want {
				t.Errorf("completion tokens and chunks without choices = %v, want %v", got, want)
			}
		})
	}
}

func TestOpenAISDKReadsResponses(t *testing.T) {
	_, server := start(t, fakeprovider.Options{OutputTokens: 5})
	params := responses.ResponseNewParams{
		Model: "gpt-4.1",
		Input: responses.ResponseNewParamsInputUnion{OfString: param.NewOpt(strings.Repeat("word ", 80))},
	}
	client := openAIClient(server)
	got, err := client.Responses.New(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != "completed" || got.Usage.InputTokens != 100 || got.Usage.OutputTokens != 5 {
		t.Errorf("status %s, usage %+v", got.Status, got.Usage)
	}
	if got.OutputText() != fakeprovider.Text(5) {
		t.Errorf("output = %q", got.OutputText())
	}

	stream := client.Responses.NewStreaming(t.Context(), params)
	var kinds []string
	var text string
	var last responses.Response
	for stream.Next() {
		e := stream.Current()
		if len(kinds) == 0 || kinds[len(kinds)-1] != e.Type {
			kinds = append(kinds, e.Type)
		}
		text += e.Delta
		last = e.Response
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	want := "response.created response.in_progress response.output_item.added response.content_part.added " +
		"response.output_text.delta response.output_text.done response.content_part.done " +
		"response.output_item.done response.completed"
	if got := strings.Join(kinds, " "); got != want {
		t.Errorf("events = %s", got)
	}
	if text != fakeprovider.Text(5) || last.Usage.TotalTokens != 105 {
		t.Errorf("text %q, usage %+v", text, last.Usage)
	}
}

func TestOpenAISDKReadsEmbeddings(t *testing.T) {
	_, server := start(t, fakeprovider.Options{})
	client := openAIClient(server)
	got, err := client.Embeddings.New(t.Context(), openai.EmbeddingNewParams{
		Model: "text-embedding-3-small", Dimensions: param.NewOpt[int64](256),
		Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"nine char", "nine char"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Data) != 2 || len(got.Data[1].Embedding) != 256 || got.Usage.PromptTokens != 5 {
		t.Errorf("%d vectors of %d, usage %+v", len(got.Data), len(got.Data[0].Embedding), got.Usage)
	}
}

func TestOpenAISDKReadsLegacyCompletions(t *testing.T) {
	_, server := start(t, fakeprovider.Options{})
	params := openai.CompletionNewParams{
		Model:     "gpt-3.5-turbo-instruct",
		Prompt:    openai.CompletionNewParamsPromptUnion{OfString: param.NewOpt("nine char")},
		MaxTokens: param.NewOpt[int64](3),
	}
	client := openAIClient(server)
	got, err := client.Completions.New(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	if got.Choices[0].Text != fakeprovider.Text(3) || got.Usage.CompletionTokens != 3 {
		t.Errorf("text %q, usage %+v", got.Choices[0].Text, got.Usage)
	}
	params.StreamOptions.IncludeUsage = param.NewOpt(true)
	stream := client.Completions.NewStreaming(t.Context(), params)
	text, usage := "", int64(0)
	for stream.Next() {
		for _, c := range stream.Current().Choices {
			text += c.Text
		}
		usage = stream.Current().Usage.CompletionTokens
	}
	if stream.Err() != nil || text != fakeprovider.Text(3) || usage != 3 {
		t.Errorf("text %q, usage %d, %v", text, usage, stream.Err())
	}
}

func TestSDKsReadModels(t *testing.T) {
	provider, server := start(t, fakeprovider.Options{})
	openAI, claude := openAIClient(server), anthropicClient(server)
	list, err := openAI.Models.List(t.Context())
	if err != nil || len(list.Data) == 0 {
		t.Errorf("%v, %v", list, err)
	}
	one, err := openAI.Models.Get(t.Context(), "gpt-4.1")
	if err != nil || one.ID != "gpt-4.1" {
		t.Errorf("%v, %v", one, err)
	}
	claudes, err := claude.Models.List(t.Context(), anthropic.ModelListParams{})
	if err != nil || len(claudes.Data) == 0 || claudes.Data[0].CreatedAt.IsZero() {
		t.Errorf("%v, %v", claudes, err)
	}
	if n := len(provider.Stats().Accounts); n != 0 {
		t.Errorf("listing models was charged to %d accounts", n)
	}
}

func TestAnthropicSDKReadsMessages(t *testing.T) {
	_, server := start(t, fakeprovider.Options{})
	client := anthropicClient(server)
	got, err := client.Messages.New(t.Context(), messageParams())
	if err != nil {
		t.Fatal(err)
	}
	checkMessage(t, got)
	count, err := client.Messages.CountTokens(t.Context(), anthropic.MessageCountTokensParams{
		Model: "claude-sonnet-4-5", Messages: messageParams().Messages,
	})
	if err != nil || count.InputTokens != got.Usage.InputTokens {
		t.Errorf("counted %+v, %v, billed %d", count, err, got.Usage.InputTokens)
	}
}

func TestAnthropicSDKReadsStream(t *testing.T) {
	_, server := start(t, fakeprovider.Options{})
	client := anthropicClient(server)
	stream := client.Messages.NewStreaming(t.Context(), messageParams())
	var acc anthropic.Message
	first := int64(-1)
	for stream.Next() {
		if e := stream.Current(); e.Type == "message_start" {
			first = e.Message.Usage.OutputTokens
		}
		if err := acc.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	if first != 1 {
		t.Errorf("message_start counts %d tokens of output, want 1", first)
	}
	checkMessage(t, &acc)
}

func checkMessage(t *testing.T, m *anthropic.Message) {
	t.Helper()
	u := m.Usage
	if u.InputTokens != 108 || u.OutputTokens != 8 || u.CacheReadInputTokens != 700 || u.CacheCreationInputTokens != 30 {
		t.Errorf("usage = %+v, want 108 in, 8 out, 700 read, 30 written", u)
	}
	if m.StopReason != "max_tokens" || len(m.Content) != 1 || len(m.Content[0].Text) != 32 {
		t.Errorf("stop reason %q, content %+v", m.StopReason, m.Content)
	}
}

// TestSDKsReadErrors: each kind of failure becomes the SDK's own typed error.
func TestSDKsReadErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		fault     fakeprovider.Fault
		openAI    int
		code      string
		anthropic int
		kind      string
	}{
		"throttled": {
			fakeprovider.Fault{Kind: fakeprovider.FaultThrottle}, 429, "rate_limit_exceeded", 429, "rate_limit_error",
		},
		"overloaded": {fakeprovider.Fault{Kind: fakeprovider.FaultOverload}, 503, "", 529, "overloaded_error"},
		"no money": {
			fakeprovider.Fault{Kind: fakeprovider.FaultQuota}, 429, "insufficient_quota", 400, "invalid_request_error",
		},
		"server error": {fakeprovider.Fault{Kind: fakeprovider.FaultRespond, Status: 500}, 500, "", 500, "api_error"},
		"bad key": {
			fakeprovider.Fault{Kind: fakeprovider.FaultRespond, Status: 401}, 401, "invalid_api_key", 401, "authentication_error",
		},
		"too large": {fakeprovider.Fault{Kind: fakeprovider.FaultRespond, Status: 413}, 413, "", 413, "request_too_large"},
	} {
		t.Run(name, func(t *testing.T) {
			provider, server := start(t, fakeprovider.Options{})
			tc.fault.Count = 2
			if err := provider.Inject(tc.fault); err != nil {
				t.Fatal(err)
			}
			openAI, claude := openAIClient(server), anthropicClient(server)
			_, err := openAI.Chat.Completions.New(t.Context(), chatParams())
			var apiErr *openai.Error
			if !errors.As(err, &apiErr) || apiErr.StatusCode != tc.openAI || apiErr.Code != tc.code || apiErr.Message == "" {
				t.Errorf("OpenAI: %v, want %d %s", err, tc.openAI, tc.code)
			}
			_, err = claude.Messages.New(t.Context(), messageParams())
			var claudeErr *anthropic.Error
			if !errors.As(err, &claudeErr) || claudeErr.StatusCode != tc.anthropic ||
				string(claudeErr.Type()) != tc.kind || claudeErr.RequestID == "" {
				t.Errorf("Anthropic: %v, want %d %s", err, tc.anthropic, tc.kind)
			}
		})
	}
}

func TestBadCallsAreRefusedAndCostNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		method, path, key, body string
		want                    int
	}{
		"unknown path":   {"POST", "/v1/nothing", "sk-x", "{}", 404},
		"wrong method":   {"GET", "/v1/messages", "sk-x", "", 404},
		"no key":         {"POST", "/v1/embeddings", "", `{"model":"m","input":"x"}`, 401},
		"wrong key":      {"POST", "/v1/embeddings", "sk-invalid-1", `{"model":"m","input":"x"}`, 401},
		"not JSON":       {"POST", "/v1/embeddings", "sk-x", "{", 400},
		"no model":       {"POST", "/v1/chat/completions", "sk-x", `{"messages":[]}`, 400},
		"no max_tokens":  {"POST", "/v1/messages", "sk-x", `{"model":"m","messages":[]}`, 400},
		"no prompt":      {"POST", "/v1/completions", "sk-x", `{"model":"m"}`, 400},
		"no input":       {"POST", "/v1/responses", "sk-x", `{"model":"m"}`, 400},
		"no such model":  {"POST", "/v1/embeddings", "sk-x", `{"model":"no-such-model-1","input":"x"}`, 404},
		"body too large": {"POST", "/v1/embeddings", "sk-x", strings.Repeat(" ", 2<<20), 413},
	} {
		t.Run(name, func(t *testing.T) {
			provider, server := start(t, fakeprovider.Options{MaxBodyBytes: 1 << 20})
			req, err := http.NewRequestWithContext(t.Context(), tc.method, server.URL+tc.path, strings.NewReader(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			if tc.key != "" {
				req.Header.Set("Authorization", "Bearer "+tc.key)
			}
			res, err := server.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = res.Body.Close() }()
			if res.StatusCode != tc.want || res.Header.Get("Content-Type") != "application/json" {
				t.Errorf("status %d, %s, want %d", res.StatusCode, res.Header.Get("Content-Type"), tc.want)
			}
			if n := len(provider.Stats().Accounts); n != 0 {
				t.Errorf("charged to %d accounts", n)
			}
		})
	}
}
