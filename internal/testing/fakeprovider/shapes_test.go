// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider_test

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// shape is one kind of call, as its SDKs make it: 50 tokens of input, 10 of them cached, and 3 of output, one
// of them reasoning.
type shape struct {
	name    string
	dialect fakeprovider.Dialect
	// path and body ask for a document, streamPath and streamBody for a stream; "" as those.
	path, body             string
	streamPath, streamBody string
	// end is what only a stream that is whole has in it; "" where that is hidden in an encoding.
	end string
}

const (
	marks      = "[[input=50]][[cached=10]][[output=3]][[reasoning=1]]"
	chatBody   = `{"model":"m","messages":[{"role":"user","content":"` + marks + `"}]}`
	chatStream = `{"stream":true,"model":"m","messages":[{"role":"user","content":"` + marks + `"}]}`
	geminiBody = `{"contents":[{"role":"user","parts":[{"text":"` + marks + `"}]}]}`
	awsBody    = `{"messages":[{"role":"user","content":[{"text":"` + marks + `"}]}]}`
	claudeBody = `{"anthropic_version":"v","max_tokens":9,"messages":[{"role":"user","content":"` + marks + `"}]}`
)

func chatShape(d fakeprovider.Dialect, path string) shape {
	return shape{string(d), d, path, chatBody, path, chatStream, "[DONE]"}
}

const (
	vertexGemini = "/v1/projects/p/locations/us-central1/publishers/google/models/m:"
	vertexClaude = "/v1/projects/p/locations/us-east5/publishers/anthropic/models/m:"
)

var shapes = []shape{
	chatShape(fakeprovider.OpenAI, "/v1/chat/completions"),
	chatShape(fakeprovider.AzureOpenAI, "/openai/deployments/m/chat/completions?api-version=2024-10-21"),
	{
		"Anthropic", fakeprovider.Anthropic, "/v1/messages", `{"model":"m",` + claudeBody[1:], "/v1/messages",
		`{"stream":true,"model":"m",` + claudeBody[1:], "message_stop",
	},
	{
		"Gemini", fakeprovider.Gemini, "/v1beta/models/m:generateContent", geminiBody,
		"/v1beta/models/m:streamGenerateContent?alt=sse", geminiBody, "finishReason",
	},
	{
		"Gemini-array", fakeprovider.Gemini, "/v1beta/models/m:generateContent", geminiBody,
		"/v1beta/models/m:streamGenerateContent", geminiBody, "finishReason",
	},
	{
		"VertexAI", fakeprovider.VertexAI, vertexGemini + "generateContent", geminiBody,
		vertexGemini + "streamGenerateContent?alt=sse", geminiBody, "finishReason",
	},
	{
		"VertexAI-claude", fakeprovider.VertexAI, vertexClaude + "rawPredict", claudeBody,
		vertexClaude + "streamRawPredict", claudeBody, "message_stop",
	},
	{
		"Bedrock-converse", fakeprovider.Bedrock, "/model/m/converse", awsBody, "/model/m/converse-stream", awsBody,
		"metadata",
	},
	{
		"Bedrock-invoke-claude", fakeprovider.Bedrock, "/model/anthropic.m/invoke", claudeBody,
		"/model/anthropic.m/invoke-with-response-stream", claudeBody, "",
	},
	{
		"Bedrock-invoke-nova", fakeprovider.Bedrock, "/model/amazon.nova-m/invoke", awsBody,
		"/model/amazon.nova-m/invoke-with-response-stream", awsBody, "",
	},
	{
		"Bedrock-invoke-llama", fakeprovider.Bedrock, "/model/meta.m/invoke", `{"prompt":"` + marks + `"}`,
		"/model/meta.m/invoke-with-response-stream", `{"prompt":"` + marks + `"}`, "",
	},
	chatShape(fakeprovider.Mistral, "/v1/chat/completions"),
	{
		"Cohere", fakeprovider.Cohere, "/v2/chat", chatBody, "/v2/chat", chatStream, "message-end",
	},
	chatShape(fakeprovider.Groq, "/openai/v1/chat/completions"),
	chatShape(fakeprovider.Cerebras, "/v1/chat/completions"),
	chatShape(fakeprovider.Together, "/v1/chat/completions"),
	chatShape(fakeprovider.Fireworks, "/inference/v1/chat/completions"),
	chatShape(fakeprovider.DeepSeek, "/chat/completions"),
	chatShape(fakeprovider.XAI, "/v1/chat/completions"),
	chatShape(fakeprovider.Perplexity, "/chat/completions"),
	chatShape(fakeprovider.OpenRouter, "/api/v1/chat/completions"),
	chatShape(fakeprovider.GitHubModels, "/inference/chat/completions"),
	chatShape(fakeprovider.HuggingFace, "/v1/chat/completions"),
	chatShape(fakeprovider.SelfHosted, "/v1/chat/completions"),
	{
		"Ollama", fakeprovider.SelfHosted, "/api/chat", `{"stream":false,` + chatBody[1:], "/api/chat", chatBody, `"done":true`,
	},
	{
		"TGI", fakeprovider.SelfHosted, "/generate", `{"inputs":"` + marks + `","parameters":{"details":true}}`,
		"/generate_stream", `{"inputs":"` + marks + `"}`, "eos_token",
	},
}

// at is a path below the provider's own address.
func (s shape) at(path string) string { return "/_p/" + strings.ToLower(string(s.dialect)) + path }

// request is a call that has a key wherever any provider looks for one.
func (s shape) request(path, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, s.at(path), strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer sk-test")
	return r
}

// TestGoldenShapesOfEachProvider pins every byte of a document, a stream, and each kind of failure.
func TestGoldenShapesOfEachProvider(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				for _, tc := range []struct {
					title      string
					path, body string
					percent    float64
					fault      fakeprovider.FaultKind
				}{
					{title: "document", path: s.path, body: s.body, percent: 100},
					{title: "stream", path: s.streamPath, body: s.streamBody, percent: 100},
					{title: "throttled", path: s.path, body: s.body},
					{title: "throttled stream", path: s.streamPath, body: s.streamBody},
					{title: "without money", path: s.path, body: s.body, percent: 100, fault: fakeprovider.FaultQuota},
					{title: "overloaded", path: s.path, body: s.body, percent: 100, fault: fakeprovider.FaultOverload},
					{title: "overloaded in mid-stream", path: s.streamPath, body: s.streamBody, percent: 100, fault: fakeprovider.FaultStreamOverload},
					{title: "bad request", path: s.path, body: "{}", percent: 100},
					{title: "no such path", path: "/none", body: "{}", percent: 100},
				} {
					provider := fakeprovider.New(fakeprovider.Options{})
					provider.SetLevel("", tc.percent)
					if tc.fault != "" {
						inject(t, provider, fakeprovider.Fault{Kind: tc.fault, AfterContent: 1})
					}
					w := httptest.NewRecorder()
					provider.ServeHTTP(w, s.request(tc.path, tc.body))
					fmt.Fprintf(&out, "== %s\n%s\n", tc.title, readable(t, w))
				}
				compareGolden(t, "shape-"+s.name, out.Bytes())
			})
		})
	}
}

// readable is an answer as text: the messages of an event stream are written out.
func readable(t *testing.T, w *httptest.ResponseRecorder) []byte {
	t.Helper()
	var out bytes.Buffer
	fmt.Fprintf(&out, "%d\n", w.Code)
	if err := w.Header().Write(&out); err != nil {
		t.Fatal(err)
	}
	out.WriteByte('\n')
	kind, _, _ := mime.ParseMediaType(w.Header().Get("Content-Type"))
	if kind != "application/vnd.amazon.eventstream" {
		out.Write(w.Body.Bytes())
		return bytes.ReplaceAll(out.Bytes(), []byte("\r\n"), []byte("\n"))
	}
	decoder := eventstream.NewDecoder()
	for w.Body.Len() > 0 {
		message, err := decoder.Decode(w.Body, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range message.Headers {
			fmt.Fprintf(&out, "%s=%s ", h.Name, h.Value)
		}
		fmt.Fprintf(&out, "%s\n", message.Payload)
	}
	return bytes.ReplaceAll(out.Bytes(), []byte("\r\n"), []byte("\n"))
}
