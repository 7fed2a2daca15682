// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Dialect names what a provider's API sends and expects. AzureOpenAI, VertexAI, Bedrock, SelfHosted and Generic
// have no URL of their own, since it differs from account to account: state baseURL.
//
// +kubebuilder:validation:Enum=OpenAI;AzureOpenAI;Anthropic;Gemini;VertexAI;Bedrock;Mistral;Cohere;Groq;Cerebras;Together;Fireworks;DeepSeek;XAI;Perplexity;OpenRouter;GitHubModels;HuggingFace;SelfHosted;Generic
type Dialect string

// The dialects.
const (
	// DialectOpenAI is OpenAI's own API.
	DialectOpenAI Dialect = "OpenAI"
	// DialectAzureOpenAI is OpenAI's models in Azure. baseURL is the resource's:
	// https://RESOURCE.openai.azure.com.
	DialectAzureOpenAI Dialect = "AzureOpenAI"
	// DialectAnthropic is Anthropic's own API.
	DialectAnthropic Dialect = "Anthropic"
	// DialectGemini is Google's Gemini API, the one with API keys.
	DialectGemini Dialect = "Gemini"
	// DialectVertexAI is Gemini in Google Cloud. baseURL is the region's:
	// https://REGION-aiplatform.googleapis.com.
	DialectVertexAI Dialect = "VertexAI"
	// DialectBedrock is Amazon Bedrock's runtime. baseURL is the region's:
	// https://bedrock-runtime.REGION.amazonaws.com. Signed requests pass unchanged.
	DialectBedrock Dialect = "Bedrock"
	// DialectMistral is Mistral's API.
	DialectMistral Dialect = "Mistral"
	// DialectCohere is Cohere's API.
	DialectCohere Dialect = "Cohere"
	// DialectGroq is Groq's API.
	DialectGroq Dialect = "Groq"
	// DialectCerebras is Cerebras' API.
	DialectCerebras Dialect = "Cerebras"
	// DialectTogether is Together AI's API.
	DialectTogether Dialect = "Together"
	// DialectFireworks is Fireworks AI's API.
	DialectFireworks Dialect = "Fireworks"
	// DialectDeepSeek is DeepSeek's API.
	DialectDeepSeek Dialect = "DeepSeek"
	// DialectXAI is xAI's API.
	DialectXAI Dialect = "XAI"
	// DialectPerplexity is Perplexity's API.
	DialectPerplexity Dialect = "Perplexity"
	// DialectOpenRouter is OpenRouter's API.
	DialectOpenRouter Dialect = "OpenRouter"
	// DialectGitHubModels is GitHub Models' API.
	DialectGitHubModels Dialect = "GitHubModels"
	// DialectHuggingFace is Hugging Face's router of inference providers.
	DialectHuggingFace Dialect = "HuggingFace"
	// DialectSelfHosted is vLLM, Text Generation Inference or Ollama. baseURL is the server's own.
	DialectSelfHosted Dialect = "SelfHosted"
	// DialectGeneric is any other API: what RFC 9110, RFC 6585 and the RateLimit headers say is obeyed.
	DialectGeneric Dialect = "Generic"
)

// Dialects are all of them, in the order of the enum.
func Dialects() []Dialect {
	return []Dialect{
		DialectOpenAI, DialectAzureOpenAI, DialectAnthropic, DialectGemini, DialectVertexAI, DialectBedrock,
		DialectMistral, DialectCohere, DialectGroq, DialectCerebras, DialectTogether, DialectFireworks,
		DialectDeepSeek, DialectXAI, DialectPerplexity, DialectOpenRouter, DialectGitHubModels, DialectHuggingFace,
		DialectSelfHosted, DialectGeneric,
	}
}
