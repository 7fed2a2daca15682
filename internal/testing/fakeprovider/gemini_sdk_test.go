// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider_test

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

func geminiClient(t *testing.T, url string) *genai.Client {
	t.Helper()
	client, err := genai.NewClient(t.Context(), &genai.ClientConfig{
		APIKey: "AIza-test", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: url},
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// prompt is 100 tokens, of which the cache has 30; the answer has 8, of which 3 are thoughts.
func prompt() []*genai.Content { return genai.Text(strings.Repeat("word ", 80) + geminiMarks) }

const geminiMarks = "[[input=100]][[output=8]][[reasoning=3]][[cached=30]]"

func checkGeminiUsage(t *testing.T, u *genai.GenerateContentResponseUsageMetadata) {
	t.Helper()
	if u.PromptTokenCount != 100 || u.CandidatesTokenCount != 5 || u.ThoughtsTokenCount != 3 ||
		u.CachedContentTokenCount != 30 || u.TotalTokenCount != 108 {
		t.Errorf("usage = %+v", u)
	}
}

func TestGeminiSDKReadsGenerate(t *testing.T) {
	_, server := start(t, fakeprovider.Options{})
	for _, base := range []string{server.URL, server.URL + "/_p/gemini"} {
		client := geminiClient(t, base)
		got, err := client.Models.GenerateContent(t.Context(), "gemini-2.5-flash", prompt(), nil)
		if err != nil {
			t.Fatal(err)
		}
		checkGeminiUsage(t, got.UsageMetadata)
		if got.Text() != fakeprovider.Text(5) || got.Candidates[0].FinishReason != genai.FinishReasonStop {
			t.Errorf("text %q, %+v", got.Text(), got.Candidates[0])
		}
		count, err := client.Models.CountTokens(t.Context(), "gemini-2.5-flash", prompt(), nil)
		if err != nil || count.TotalTokens != 100 {
			t.Errorf("counted %+v, %v", count, err)
		}
	}
}

func TestGeminiSDKReadsStream(t *testing.T) {
	provider, server := start(t, fakeprovider.Options{})
	client := geminiClient(t, server.URL)
	text, last := "", &genai.GenerateContentResponse{}
	for got, err := range client.Models.GenerateContentStream(t.Context(), "gemini-2.5-flash", prompt(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		text += got.Text()
		last = got
	}
	checkGeminiUsage(t, last.UsageMetadata)
	if text != fakeprovider.Text(5) || last.Candidates[0].FinishReason != genai.FinishReasonStop {
		t.Errorf("text %q, last %+v", text, last)
	}
	a := provider.Arrivals()[0]
	if a.Dialect != fakeprovider.Gemini || a.Model != "gemini-2.5-flash" || !a.Stream || a.OutputTokens != 8 {
		t.Errorf("arrival = %+v", a)
	}
}

func TestGeminiSDKReadsEmbeddings(t *testing.T) {
	_, server := start(t, fakeprovider.Options{})
	client := geminiClient(t, server.URL)
	contents := append(genai.Text("one"), genai.Text("two")...)
	got, err := client.Models.EmbedContent(t.Context(), "gemini-embedding-001", contents,
		&genai.EmbedContentConfig{OutputDimensionality: genai.Ptr[int32](256)})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Embeddings) != 2 || len(got.Embeddings[1].Values) != 256 {
		t.Errorf("%d embeddings", len(got.Embeddings))
	}
}

func TestGeminiSDKReadsErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		fault  fakeprovider.FaultKind
		model  string
		level  float64
		code   int
		status string
		says   string
	}{
		"throttled":  {level: inDebt, code: 429, status: "RESOURCE_EXHAUSTED", says: "Please retry in "},
		"overloaded": {fault: fakeprovider.FaultOverload, level: 100, code: 503, status: "UNAVAILABLE", says: "overloaded"},
		"quota":      {fault: fakeprovider.FaultQuota, level: 100, code: 429, status: "RESOURCE_EXHAUSTED", says: "quota"},
		"no model":   {model: "no-such-model", level: 100, code: 404, status: "NOT_FOUND", says: "not found"},
	} {
		t.Run(name, func(t *testing.T) {
			provider, server := start(t, fakeprovider.Options{})
			provider.SetLevel("", tc.level)
			if tc.fault != "" {
				inject(t, provider, fakeprovider.Fault{Kind: tc.fault, Count: -1})
			}
			client := geminiClient(t, server.URL)
			model := tc.model
			if model == "" {
				model = "gemini-2.5-flash"
			}
			_, once := client.Models.GenerateContent(t.Context(), model, prompt(), nil)
			var streamed error
			for _, err := range client.Models.GenerateContentStream(t.Context(), model, prompt(), nil) {
				streamed = err
			}
			for _, err := range []error{once, streamed} {
				var e genai.APIError
				if !errors.As(err, &e) || e.Code != tc.code || e.Status != tc.status || !strings.Contains(e.Message, tc.says) {
					t.Errorf("error = %v", err)
				}
			}
		})
	}
}

// TestVertexSDKReadsGenerate: the same SDK, with a key of Vertex AI's express mode, which needs no project.
func TestVertexSDKReadsGenerate(t *testing.T) {
	provider, server := start(t, fakeprovider.Options{})
	client, err := genai.NewClient(t.Context(), &genai.ClientConfig{
		APIKey: "AQ.test", Backend: genai.BackendVertexAI, HTTPOptions: genai.HTTPOptions{BaseURL: server.URL + "/_p/vertexai"},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.Models.GenerateContent(t.Context(), "gemini-2.5-flash", prompt(), nil)
	if err != nil {
		t.Fatal(err)
	}
	checkGeminiUsage(t, got.UsageMetadata)
	text := ""
	for piece, err := range client.Models.GenerateContentStream(t.Context(), "gemini-2.5-flash", prompt(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		text += piece.Text()
	}
	if text != fakeprovider.Text(5) {
		t.Errorf("text %q", text)
	}
	if a := provider.Arrivals()[1]; a.Dialect != fakeprovider.VertexAI || a.Model != "gemini-2.5-flash" || !a.Stream {
		t.Errorf("arrival = %+v", a)
	}
}

// TestAScriptedWaitIsInGeminisBody, where alone its SDKs could find it.
func TestAScriptedWaitIsInGeminisBody(t *testing.T) {
	provider, server := start(t, fakeprovider.Options{})
	inject(t, provider,
		fakeprovider.Fault{Kind: fakeprovider.FaultThrottle, RetryAfter: "7"},
		fakeprovider.Fault{Kind: fakeprovider.FaultThrottle, RetryAfterMs: "1500"},
		fakeprovider.Fault{Kind: fakeprovider.FaultThrottle})
	client := geminiClient(t, server.URL)
	for _, want := range []string{"Please retry in 7s.", "Please retry in 1.5s.", ""} {
		_, err := client.Models.GenerateContent(t.Context(), "m", prompt(), nil)
		var e genai.APIError
		if !errors.As(err, &e) || !strings.HasSuffix(e.Message, want) || (want == "") == strings.Contains(e.Message, "retry in") {
			t.Errorf("error = %v, want %q in it", err, want)
		}
	}
}
