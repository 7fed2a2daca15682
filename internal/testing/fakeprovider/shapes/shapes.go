// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package shapes lists one call of each kind that package fakeprovider answers, as the providers' SDKs make
// it, so that a test can go through all of them.
//
// It imports nothing of Headgate but package fakeprovider.
package shapes

import (
	"strings"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// Shape is one kind of call. Its marks ask for Input tokens, of which Cached are read from a cache or, where the
// API counts so, come beside them, and for Output tokens, of which Reasoning are no text.
type Shape struct {
	Name    string
	Dialect fakeprovider.Dialect
	// Path and Body ask for a document, StreamPath and StreamBody for a stream.
	Path, Body             string
	StreamPath, StreamBody string
	// End is what only a stream that is whole has in it; "" where that is hidden in an encoding.
	End string
}

// What the marks in each body ask for.
const (
	Input     = 50
	Cached    = 10
	Output    = 3
	Reasoning = 1
)

const (
	marks      = "[[input=50]][[cached=10]][[output=3]][[reasoning=1]]"
	chatBody   = `{"model":"m","messages":[{"role":"user","content":"` + marks + `"}]}`
	chatStream = `{"stream":true,"model":"m","messages":[{"role":"user","content":"` + marks + `"}]}`
	geminiBody = `{"contents":[{"role":"user","parts":[{"text":"` + marks + `"}]}]}`
	awsBody    = `{"messages":[{"role":"user","content":[{"text":"` + marks + `"}]}]}`
	claudeBody = `{"anthropic_version":"v","max_tokens":9,"messages":[{"role":"user","content":"` + marks + `"}]}`
)

func chat(d fakeprovider.Dialect, path string) Shape {
	return Shape{string(d), d, path, chatBody, path, chatStream, "[DONE]"}
}

const (
	vertexGemini = "/v1/projects/p/locations/us-central1/publishers/google/models/m:"
	vertexClaude = "/v1/projects/p/locations/us-east5/publishers/anthropic/models/m:"
)

// All returns every shape.
func All() []Shape { return append([]Shape(nil), all...) }

var all = []Shape{
	chat(fakeprovider.OpenAI, "/v1/chat/completions"),
	chat(fakeprovider.AzureOpenAI, "/openai/deployments/m/chat/completions?api-version=2024-10-21"),
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
	chat(fakeprovider.Mistral, "/v1/chat/completions"),
	{
		"Cohere", fakeprovider.Cohere, "/v2/chat", chatBody, "/v2/chat", chatStream, "message-end",
	},
	chat(fakeprovider.Groq, "/openai/v1/chat/completions"),
	chat(fakeprovider.Cerebras, "/v1/chat/completions"),
	chat(fakeprovider.Together, "/v1/chat/completions"),
	chat(fakeprovider.Fireworks, "/inference/v1/chat/completions"),
	chat(fakeprovider.DeepSeek, "/chat/completions"),
	chat(fakeprovider.XAI, "/v1/chat/completions"),
	chat(fakeprovider.Perplexity, "/chat/completions"),
	chat(fakeprovider.OpenRouter, "/api/v1/chat/completions"),
	chat(fakeprovider.GitHubModels, "/inference/chat/completions"),
	chat(fakeprovider.HuggingFace, "/v1/chat/completions"),
	chat(fakeprovider.SelfHosted, "/v1/chat/completions"),
	{
		"Ollama", fakeprovider.SelfHosted, "/api/chat", `{"stream":false,` + chatBody[1:], "/api/chat", chatBody, `"done":true`,
	},
	{
		"TGI", fakeprovider.SelfHosted, "/generate", `{"inputs":"` + marks + `","parameters":{"details":true}}`,
		"/generate_stream", `{"inputs":"` + marks + `"}`, "eos_token",
	},
}

// At is a path below the address of the shape's provider in one server of all.
func (s Shape) At(path string) string { return Route(s.Dialect) + path }

// Route is the path below which a server of all providers has d.
func Route(d fakeprovider.Dialect) string { return "/_p/" + strings.ToLower(string(d)) }

// IsWhole says whether a stream has its end, where that can be seen.
func (s Shape) IsWhole(stream string) bool { return s.End != "" && strings.Contains(stream, s.End) }
