// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dataplane

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// The clients have the SDKs' default settings, two retries among them, and the injected base URLs.
func (g *gateway) openai() openai.Client {
	return openai.NewClient(openaioption.WithBaseURL(g.URL+"/openai/v1"), openaioption.WithAPIKey("sk-c4n4ryKey-of-the-app-c4n4ryKey"))
}

func (g *gateway) anthropic() anthropic.Client {
	return anthropic.NewClient(anthropicoption.WithBaseURL(g.URL+"/anthropic"), anthropicoption.WithAPIKey("sk-c4n4ryKey-of-the-app-c4n4ryKey"))
}

func chat() openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model: "gpt-4.1", MaxTokens: openai.Int(8),
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("a few c4n4ryPrompt words")},
	}
}

func message() anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model: "claude-sonnet-4-5", MaxTokens: 8,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("a few c4n4ryPrompt words"))},
	}
}

func TestOfficialSDKsCallAndStreamThroughTheGateway(t *testing.T) {
	g := start(t, fakeprovider.Options{Gzip: true}, "")
	oa, an := g.openai(), g.anthropic()
	completion, err := oa.Chat.Completions.New(t.Context(), chat())
	if err != nil || completion.Usage.CompletionTokens != 8 {
		t.Fatalf("openai: %+v %v", completion, err)
	}
	msg, err := an.Messages.New(t.Context(), message())
	if err != nil || msg.Usage.OutputTokens != 8 {
		t.Fatalf("anthropic: %+v %v", msg, err)
	}
	chunks := oa.Chat.Completions.NewStreaming(t.Context(), chat())
	text := ""
	for chunks.Next() {
		c := chunks.Current()
		if len(c.Choices) == 0 {
			t.Error("the stream holds a chunk without choices")
			continue
		}
		text += c.Choices[0].Delta.Content
	}
	if err := chunks.Err(); err != nil || text == "" {
		t.Errorf("openai stream %q: %v", text, err)
	}
	events := an.Messages.NewStreaming(t.Context(), message())
	var whole anthropic.Message
	for events.Next() {
		if err := whole.Accumulate(events.Current()); err != nil {
			t.Error(err)
		}
	}
	if err := events.Err(); err != nil || whole.Usage.OutputTokens != 8 {
		t.Errorf("anthropic stream %+v: %v", whole.Usage, err)
	}
	if n := len(g.Provider.Arrivals()); n != 4 {
		t.Errorf("the provider saw %d sends", n)
	}
	g.checkKeys()
	g.checkMetrics(`headgate_tokens_total{kind="output",model="gpt-4.1",namespace="team-support",policy="support",provider="openai"} 16`,
		`headgate_tokens_total{kind="output",model="claude-sonnet-4-5",namespace="team-support",policy="support",provider="anthropic"} 16`,
		`headgate_reserved{limit="input-tokens",namespace="team-support",policy="support",provider="anthropic"} 0`)
}

// checkKeys fails unless Anthropic saw the gateway's key, OpenAI the app's, and no log either.
func (g *gateway) checkKeys() {
	g.t.Helper()
	want := map[fakeprovider.Dialect]string{
		fakeprovider.OpenAI: fakeprovider.KeyHash("sk-c4n4ryKey-of-the-app-c4n4ryKey"), fakeprovider.Anthropic: fakeprovider.KeyHash("sk-ant-c4n4ryKey-of-the-gateway-c4n4ryKey"),
	}
	for _, a := range g.Provider.Arrivals() {
		if a.KeyHash != want[a.Dialect] {
			g.t.Errorf("%s saw another key", a.Dialect)
		}
	}
	if text := g.Log.String(); strings.Contains(text, "sk-") || strings.Contains(text, "few words") {
		g.t.Error("the log holds a key or a prompt")
	}
}

func TestRefusalWithGuidanceIsWaitedOutForTheSDK(t *testing.T) {
	g := start(t, fakeprovider.Options{}, "")
	oa, an := g.openai(), g.anthropic()
	for dialect, ask := range map[fakeprovider.Dialect]func() error{
		fakeprovider.OpenAI:    func() error { _, err := oa.Chat.Completions.New(t.Context(), chat()); return err },
		fakeprovider.Anthropic: func() error { _, err := an.Messages.New(t.Context(), message()); return err },
	} {
		g.Inject(fakeprovider.Fault{Kind: fakeprovider.FaultThrottle, RetryAfter: "1", Dialect: dialect})
		before := len(g.Provider.Arrivals())
		began := time.Now()
		if err := ask(); err != nil {
			t.Errorf("%s: %v", dialect, err)
		}
		arrivals := g.Provider.Arrivals()[before:]
		if took := time.Since(began); took < time.Second || len(arrivals) != 2 {
			t.Errorf("%s: answered after %s and %d sends", dialect, took, len(arrivals))
		}
		for _, a := range arrivals {
			if a.Headers["x-stainless-retry-count"] != "0" {
				t.Errorf("%s: the SDK retried: %v", dialect, a.Headers)
			}
		}
	}
}

// Fault A6: An SDK that retries three times in front of a gateway that does so too made nine calls of one, against a
// provider that had said stop.
// Headgate: Exhausted and declined calls and Headgate's own refusals carry x-should-retry: false and whole seconds,
// which the SDKs obey; an attempt that comes inside the wait all the same is answered from what is known.
func TestA6AndA17DeclinedRefusalRaisesTheSDKsOwnErrorWithoutFurtherSends(t *testing.T) {
	g := start(t, fakeprovider.Options{}, "")
	oa, an := g.openai(), g.anthropic()
	g.Inject(fakeprovider.Fault{Kind: fakeprovider.FaultThrottle, RetryAfter: "500", Count: -1})
	began := time.Now()
	_, err := oa.Chat.Completions.New(t.Context(), chat())
	var openaiError *openai.Error
	if !errors.As(err, &openaiError) || openaiError.StatusCode != http.StatusTooManyRequests {
		t.Errorf("openai: %v", err)
	} else if after, _ := strconv.Atoi(openaiError.Response.Header.Get("Retry-After")); after < 400 || after > 500 {
		t.Errorf("openai: Retry-After %d", after)
	}
	_, err = an.Messages.New(t.Context(), message())
	var anthropicError *anthropic.Error
	if !errors.As(err, &anthropicError) || anthropicError.StatusCode != http.StatusTooManyRequests {
		t.Errorf("anthropic: %v", err)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("declining took %s", took)
	}
	if n := len(g.Provider.Arrivals()); n != 2 {
		t.Errorf("the provider saw %d sends for two calls", n)
	}
	// A refusal of the gateway's own: the level is known to be far too low.
	_, err = an.Messages.New(t.Context(), message(), anthropicoption.WithHeader("Headgate-Deadline", "4s"))
	if !errors.As(err, &anthropicError) || anthropicError.StatusCode != http.StatusTooManyRequests ||
		!strings.Contains(anthropicError.RawJSON(), "headgate: team-support/support: anthropic/") {
		t.Errorf("own refusal: %v", err)
	}
	after, _ := strconv.Atoi(anthropicError.Response.Header.Get("Retry-After"))
	if after < 400 || len(g.Provider.Arrivals()) != 2 {
		t.Errorf("Retry-After %d, %d sends", after, len(g.Provider.Arrivals()))
	}
}

func TestA6ExhaustedRetriesAreTheProvidersAnswerAndTheSDKAddsNone(t *testing.T) {
	g := start(t, fakeprovider.Options{}, "    unguided: {base: 100ms, cap: 200ms}")
	oa := g.openai()
	g.Inject(fakeprovider.Fault{Kind: fakeprovider.FaultThrottle, Count: -1})
	_, err := oa.Chat.Completions.New(t.Context(), chat())
	var e *openai.Error
	if !errors.As(err, &e) || e.StatusCode != http.StatusTooManyRequests {
		t.Errorf("%v", err)
	}
	if n := len(g.Provider.Arrivals()); n != 3 {
		t.Errorf("the provider saw %d sends, not 3", n)
	}
}
