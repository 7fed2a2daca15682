// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/azure"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// inDebt is a level from which a bucket takes a minute to let anything pass, however slow the machine is.
const inDebt = -100

// compatible are the base URLs that OpenAI's SDK is given for the providers that copy its API.
var compatible = map[fakeprovider.Dialect]string{
	fakeprovider.Mistral: "/v1", fakeprovider.Groq: "/openai/v1", fakeprovider.Cerebras: "/v1", fakeprovider.Together: "/v1",
	fakeprovider.Fireworks: "/inference/v1", fakeprovider.DeepSeek: "", fakeprovider.XAI: "/v1", fakeprovider.Perplexity: "",
	fakeprovider.OpenRouter: "/api/v1", fakeprovider.GitHubModels: "/inference", fakeprovider.HuggingFace: "/v1",
	fakeprovider.SelfHosted: "/v1", fakeprovider.AzureOpenAI: "/openai/v1",
}

// TestOpenAISDKReadsThoseWhoCopyOpenAI: a document, a stream whose usage is where the provider puts it, and its
// refusal.
func TestOpenAISDKReadsThoseWhoCopyOpenAI(t *testing.T) {
	for d, version := range compatible {
		t.Run(string(d), func(t *testing.T) {
			provider, server := start(t, fakeprovider.Options{})
			base := server.URL + "/_p/" + strings.ToLower(string(d)) + version
			client := openAIClient(server, openaioption.WithBaseURL(base))
			checkChat(t, client, usageComesUnasked(d))
			provider.SetLevel("", inDebt)
			_, err := client.Chat.Completions.New(t.Context(), chatParams())
			var e *openai.Error
			if d == fakeprovider.XAI && err != nil {
				return // the SDK cannot read an error that is a string, and says only that
			}
			if !errors.As(err, &e) || e.StatusCode != http.StatusTooManyRequests {
				t.Errorf("error = %v", err)
			}
		})
	}
}

// usageComesUnasked: only these keep to stream_options, as OpenAI does. What Groq says besides is not in usage.
func usageComesUnasked(d fakeprovider.Dialect) bool {
	return !slices.Contains([]fakeprovider.Dialect{
		fakeprovider.AzureOpenAI, fakeprovider.Groq, fakeprovider.GitHubModels, fakeprovider.HuggingFace, fakeprovider.SelfHosted,
	}, d)
}

func checkChat(t *testing.T, client openai.Client, unasked bool) {
	t.Helper()
	got, err := client.Chat.Completions.New(t.Context(), chatParams())
	if err != nil || got.Usage.PromptTokens != 100 || got.Usage.CompletionTokens != 8 {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, asked := range []bool{false, true} {
		params := chatParams()
		if asked {
			params.StreamOptions.IncludeUsage = param.NewOpt(true)
		}
		stream := client.Chat.Completions.NewStreaming(t.Context(), params)
		text, usage := "", int64(0)
		for stream.Next() {
			for _, c := range stream.Current().Choices {
				text += c.Delta.Content
			}
			usage = max(usage, stream.Current().Usage.CompletionTokens)
		}
		if stream.Err() != nil || text != fakeprovider.Text(8) || (usage == 8) != (asked || unasked) {
			t.Errorf("asked %v: text %q, usage %d, %v", asked, text, usage, stream.Err())
		}
	}
}

// TestAzureSDKOptionWorks: the SDK's Azure option puts the model in the path, the version in the query and the
// key in its own header.
func TestAzureSDKOptionWorks(t *testing.T) {
	provider, server := startTLS(t, fakeprovider.Options{})
	client := openai.NewClient(
		azure.WithEndpoint(server.URL+"/_p/azureopenai", "2024-10-21"), azure.WithAPIKey("azure-test"),
		openaioption.WithMaxRetries(0), openaioption.WithHTTPClient(server.Client()),
	)
	checkChat(t, client, false)
	a := provider.Arrivals()[0]
	if a.Path != "/_p/azureopenai/openai/deployments/gpt-4.1/chat/completions" || a.Model != "gpt-4.1" ||
		a.KeyHash != fakeprovider.KeyHash("azure-test") {
		t.Errorf("arrival = %+v", a)
	}
	provider.SetLevel(fakeprovider.Tokens, inDebt)
	_, err := client.Chat.Completions.New(t.Context(), chatParams())
	var e *openai.Error
	if !errors.As(err, &e) || e.Code != "429" || e.Response.Header.Get("Retry-After-Ms") == "" ||
		!strings.Contains(e.Message, "token rate limit") {
		t.Errorf("error = %v", err)
	}
}

// TestXAICountsReasoningBesideTheCompletion, where OpenAI counts it within.
func TestXAICountsReasoningBesideTheCompletion(t *testing.T) {
	_, server := start(t, fakeprovider.Options{})
	for d, want := range map[fakeprovider.Dialect]int64{fakeprovider.OpenAI: 8, fakeprovider.XAI: 5} {
		client := openAIClient(server, openaioption.WithBaseURL(server.URL+"/_p/"+strings.ToLower(string(d))+"/v1"),
			openaioption.WithHeader("X-Fake-Reasoning-Tokens", "3"))
		got, err := client.Chat.Completions.New(t.Context(), chatParams())
		if err != nil {
			t.Fatal(err)
		}
		u := got.Usage
		if u.CompletionTokens != want || u.CompletionTokensDetails.ReasoningTokens != 3 || u.TotalTokens != 108 {
			t.Errorf("%s: usage = %+v", d, u)
		}
	}
}
