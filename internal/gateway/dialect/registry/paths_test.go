// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"testing"

	"github.com/headgate-dev/headgate/internal/gateway/dialect/urlpath"
)

// spellings are the ways one call is written: every path that an app may use, with every base URL that a policy may
// have, must lead to the same place.
var spellings = []struct {
	dialect, want string
	paths, bases  []string
}{
	{
		"Groq", "https://api.groq.com/openai/v1/chat/completions",
		[]string{
			"/chat/completions", "/v1/chat/completions", "/openai/v1/chat/completions", "/openai/chat/completions",
			"//openai//v1/chat/completions", "/openai/v1/openai/v1/chat/completions", "/openai/v1/v1/chat/completions",
		},
		[]string{"https://api.groq.com", "https://api.groq.com/", "https://api.groq.com/openai", "https://api.groq.com/openai/v1"},
	},
	{
		"Fireworks", "https://api.fireworks.ai/inference/v1/chat/completions",
		[]string{"/chat/completions", "/v1/chat/completions", "/inference/v1/chat/completions", "/inference/chat/completions"},
		[]string{"https://api.fireworks.ai", "https://api.fireworks.ai/inference", "https://api.fireworks.ai/inference/v1/"},
	},
	{
		"Fireworks", "https://api.fireworks.ai/v1/accounts/fireworks/models",
		[]string{"/v1/accounts/fireworks/models"},
		[]string{"https://api.fireworks.ai", "https://api.fireworks.ai/v1"},
	},
	{
		"OpenRouter", "https://openrouter.ai/api/v1/messages",
		[]string{"/messages", "/v1/messages", "/api/v1/messages", "/api/messages"},
		[]string{"https://openrouter.ai", "https://openrouter.ai/api", "https://openrouter.ai/api/v1"},
	},
	{
		"Mistral", "https://api.mistral.ai/v1/fim/completions",
		[]string{"/fim/completions", "/v1/fim/completions", "/v1/v1/fim/completions"},
		[]string{"https://api.mistral.ai", "https://api.mistral.ai/v1"},
	},
	{
		"Cerebras", "https://api.cerebras.ai/v1/chat/completions",
		[]string{"/chat/completions", "/v1/chat/completions"},
		[]string{"https://api.cerebras.ai", "https://api.cerebras.ai/v1"},
	},
	{
		"Together", "https://api.together.xyz/v1/embeddings",
		[]string{"/embeddings", "/v1/embeddings"},
		[]string{"https://api.together.xyz", "https://api.together.xyz/v1"},
	},
	{
		"XAI", "https://api.x.ai/v1/responses",
		[]string{"/responses", "/v1/responses"},
		[]string{"https://api.x.ai", "https://api.x.ai/v1"},
	},
	{
		"Perplexity", "https://api.perplexity.ai/chat/completions",
		[]string{"/chat/completions", "/v1/chat/completions"},
		[]string{"https://api.perplexity.ai", "https://api.perplexity.ai/"},
	},
	{
		"Perplexity", "https://api.perplexity.ai/v1/responses",
		[]string{"/responses", "/v1/responses", "/v1/v1/responses"},
		[]string{"https://api.perplexity.ai", "https://api.perplexity.ai/v1"},
	},
	{
		"DeepSeek", "https://api.deepseek.com/chat/completions",
		[]string{"/chat/completions"},
		[]string{"https://api.deepseek.com", "https://api.deepseek.com/"},
	},
	{
		"DeepSeek", "https://api.deepseek.com/v1/chat/completions",
		[]string{"/v1/chat/completions", "/v1/v1/chat/completions"},
		[]string{"https://api.deepseek.com", "https://api.deepseek.com/v1"},
	},
	{
		"DeepSeek", "https://api.deepseek.com/beta/completions",
		[]string{"/beta/completions", "/beta/v1/completions", "/v1/beta/completions"},
		[]string{"https://api.deepseek.com", "https://api.deepseek.com/beta"},
	},
	{
		"DeepSeek", "https://api.deepseek.com/anthropic/v1/messages",
		[]string{"/messages", "/v1/messages", "/anthropic/messages", "/anthropic/v1/messages", "/v1/anthropic/v1/messages"},
		[]string{"https://api.deepseek.com", "https://api.deepseek.com/anthropic", "https://api.deepseek.com/anthropic/v1"},
	},
	{
		"GitHubModels", "https://models.github.ai/inference/chat/completions",
		[]string{
			"/chat/completions", "/v1/chat/completions", "/inference/chat/completions", "/inference/v1/chat/completions",
			"/inference/inference/chat/completions",
		},
		[]string{"https://models.github.ai", "https://models.github.ai/inference"},
	},
	{
		"GitHubModels", "https://models.github.ai/orgs/octo/inference/chat/completions",
		[]string{"/orgs/octo/inference/chat/completions", "/orgs/octo/chat/completions", "/orgs/octo/inference/v1/chat/completions"},
		[]string{"https://models.github.ai"},
	},
	{
		"GitHubModels", "https://models.github.ai/orgs/octo/inference/chat/completions",
		[]string{"/chat/completions", "/inference/chat/completions", "/orgs/octo/inference/chat/completions"},
		[]string{"https://models.github.ai/orgs/octo/inference"},
	},
	{
		"HuggingFace", "https://router.huggingface.co/v1/chat/completions",
		[]string{"/chat/completions", "/v1/chat/completions", "/v1/v1/chat/completions"},
		[]string{"https://router.huggingface.co", "https://router.huggingface.co/v1"},
	},
	{
		"HuggingFace", "https://router.huggingface.co/together/v1/chat/completions",
		[]string{"/together/v1/chat/completions"},
		[]string{"https://router.huggingface.co", "https://router.huggingface.co/together/v1"},
	},
	{
		"HuggingFace", "https://router.huggingface.co/together/v1/chat/completions",
		[]string{"/chat/completions", "/v1/chat/completions"},
		[]string{"https://router.huggingface.co/together/v1"},
	},
	{
		"AzureOpenAI", "https://r.openai.azure.com/openai/v1/chat/completions",
		[]string{"/chat/completions", "/v1/chat/completions", "/openai/v1/chat/completions", "/openai/v1/v1/chat/completions"},
		[]string{"https://r.openai.azure.com", "https://r.openai.azure.com/openai", "https://r.openai.azure.com/openai/v1/"},
	},
	{
		"AzureOpenAI", "https://r.openai.azure.com/openai/deployments/d/chat/completions",
		[]string{"/openai/deployments/d/chat/completions", "/deployments/d/chat/completions", "/openai/openai/deployments/d/chat/completions"},
		[]string{"https://r.openai.azure.com", "https://r.openai.azure.com/openai", "https://r.openai.azure.com/openai/deployments/d"},
	},
	{
		"AzureOpenAI", "https://r.openai.azure.com/openai/deployments/d/chat/completions",
		[]string{"/chat/completions", "/v1/chat/completions"},
		[]string{"https://r.openai.azure.com/openai/deployments/d"},
	},
	{
		"AzureOpenAI", "https://r.openai.azure.com/openai/responses",
		[]string{"/openai/responses"},
		[]string{"https://r.openai.azure.com", "https://r.openai.azure.com/openai"},
	},
	{
		"AzureOpenAI", "https://r.services.ai.azure.com/models/chat/completions",
		[]string{"/models/chat/completions"},
		[]string{"https://r.services.ai.azure.com", "https://r.services.ai.azure.com/models"},
	},
	{
		"AzureOpenAI", "https://r.services.ai.azure.com/anthropic/v1/messages",
		[]string{"/anthropic/v1/messages", "/anthropic/messages"},
		[]string{"https://r.services.ai.azure.com", "https://r.services.ai.azure.com/anthropic"},
	},
}

// TestEverySpellingOfAPathLeadsToOnePlace: what app and policy both write stands once, what neither writes is added.
func TestEverySpellingOfAPathLeadsToOnePlace(t *testing.T) {
	for _, tc := range spellings {
		for _, path := range tc.paths {
			for _, base := range tc.bases {
				if got := urlpath.Join(base, ByName(tc.dialect).Path(path)); got != tc.want {
					t.Errorf("%s: %s under %s leads to %s, want %s", tc.dialect, path, base, got, tc.want)
				}
			}
		}
	}
}

// TestPathsBehindAProxyKeepItsOwnVersion: a proxy of one's own has the API where it likes.
func TestPathsBehindAProxyKeepItsOwnVersion(t *testing.T) {
	for _, tc := range []struct{ dialect, base, path, want string }{
		{"Groq", "https://gw.example/groq/v1", "/chat/completions", "https://gw.example/groq/v1/chat/completions"},
		{"Groq", "https://gw.example/llm", "/v1/chat/completions", "https://gw.example/llm/openai/v1/chat/completions"},
		{"OpenRouter", "https://gw.example/v1", "/v1/models", "https://gw.example/v1/models"},
		{"OpenRouter", "https://gw.example/v2", "/v1/models", "https://gw.example/v2/api/v1/models"},
		{"Groq", "https://api.groq.com", "/v2/things", "https://api.groq.com/openai/v2/things"},
		{"Groq", "https://api.groq.com", "/openai/v2/things", "https://api.groq.com/openai/v2/things"},
		{"GitHubModels", "https://models.github.ai", "/catalog/models", "https://models.github.ai/catalog/models"},
		{"HuggingFace", "https://router.huggingface.co", "/models", "https://router.huggingface.co/v1/models"},
		{"HuggingFace", "https://router.huggingface.co", "/hf-inference/models/o/m", "https://router.huggingface.co/hf-inference/models/o/m"},
		{"AzureOpenAI", "https://r.openai.azure.com", "/openai/files", "https://r.openai.azure.com/openai/files"},
		{"AzureOpenAI", "https://r.openai.azure.com", "/models", "https://r.openai.azure.com/openai/v1/models"},
		{"AzureOpenAI", "https://r.openai.azure.com", "/models/gpt-5", "https://r.openai.azure.com/openai/v1/models/gpt-5"},
	} {
		if got := urlpath.Join(tc.base, ByName(tc.dialect).Path(tc.path)); got != tc.want {
			t.Errorf("%s: %s under %s leads to %s, want %s", tc.dialect, tc.path, tc.base, got, tc.want)
		}
	}
}
