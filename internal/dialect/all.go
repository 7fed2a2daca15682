// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dialect

// all holds the facts in the order the API lists the names. Where no default URL stands, it differs from account
// to account or from region to region, and a guess would send data to the wrong one.
var all = []Facts{
	{
		Name: "OpenAI", Route: "openai", DefaultBaseURL: "https://api.openai.com",
		BaseURLVariables: []Variable{
			// The SDK's client for Azure takes OPENAI_BASE_URL for its own, or refuses to start with both.
			{Name: "OPENAI_BASE_URL", Path: "/v1", Unless: []string{
				"AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN", "OPENAI_API_VERSION",
			}},
			// The older name, which some frameworks prefer.
			{Name: "OPENAI_API_BASE", ReadOnly: true},
		},
		Charges: MaxAtAdmission, ResetMeans: ResetFull, SmallestInputTokens: 1,
	},
	{
		Name: "AzureOpenAI", Route: "azureopenai", Aliases: []string{"azure", "azure-openai"},
		BaseURLVariables: []Variable{{Name: "AZURE_OPENAI_ENDPOINT", ReadOnly: true}},
		// Its counters begin anew each minute: a reset leads to a call that goes, not to a bucket that is full.
		Charges: MaxAtAdmission, ResetMeans: ResetUsable, SmallestInputTokens: 1,
		ExampleBaseURL: "https://RESOURCE.openai.azure.com",
		HostParts:      []string{".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"},
	},
	{
		Name: "Anthropic", Route: "anthropic", DefaultBaseURL: "https://api.anthropic.com",
		BaseURLVariables: []Variable{{Name: "ANTHROPIC_BASE_URL"}},
		Charges:          AsProduced, ResetMeans: ResetFull, CachedInputFree: true, TokensApart: true, SmallestInputTokens: 1,
	},
	{
		Name: "Gemini", Route: "gemini", Aliases: []string{"google"}, DefaultBaseURL: "https://generativelanguage.googleapis.com",
		BaseURLVariables: []Variable{{Name: "GOOGLE_GEMINI_BASE_URL"}},
		Charges:          EstimateThenActual, ResetMeans: ResetUsable, AllowanceDay: PacificDay, SmallestInputTokens: 1,
	},
	{
		Name: "VertexAI", Route: "vertexai", Aliases: []string{"vertex", "vertex-ai"},
		BaseURLVariables: []Variable{{Name: "GOOGLE_VERTEX_BASE_URL", ReadOnly: true}},
		Charges:          EstimateThenActual, ResetMeans: ResetUsable, SmallestInputTokens: 1,
		ExampleBaseURL: "https://REGION-aiplatform.googleapis.com", HostParts: []string{"aiplatform.googleapis.com"},
	},
	{
		Name: "Bedrock", Route: "bedrock",
		BaseURLVariables: []Variable{{Name: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", ReadOnly: true}},
		Charges:          MaxAtAdmission, ResetMeans: ResetUsable, CachedInputFree: true, SmallestInputTokens: 1,
		ExampleBaseURL: "https://bedrock-runtime.REGION.amazonaws.com", HostParts: []string{"bedrock-runtime."},
	},
	{
		Name: "Mistral", Route: "mistral", DefaultBaseURL: "https://api.mistral.ai",
		Charges: EstimateThenActual, ResetMeans: ResetUsable, SmallestInputTokens: 1,
	},
	{
		Name: "Cohere", Route: "cohere", DefaultBaseURL: "https://api.cohere.com",
		BaseURLVariables: []Variable{{Name: "CO_API_URL"}},
		Charges:          EstimateThenActual, ResetMeans: ResetUsable, SmallestInputTokens: 1,
	},
	{
		Name: "Groq", Route: "groq", DefaultBaseURL: "https://api.groq.com",
		BaseURLVariables: []Variable{{Name: "GROQ_BASE_URL"}},
		Charges:          EstimateThenActual, ResetMeans: ResetFull, CachedInputFree: true, SmallestInputTokens: 1,
	},
	{
		Name: "Cerebras", Route: "cerebras", DefaultBaseURL: "https://api.cerebras.ai",
		BaseURLVariables: []Variable{{Name: "CEREBRAS_BASE_URL"}},
		Charges:          MaxAtAdmission, ResetMeans: ResetUsable, SmallestInputTokens: 1,
	},
	{
		Name: "Together", Route: "together", DefaultBaseURL: "https://api.together.xyz",
		BaseURLVariables: []Variable{{Name: "TOGETHER_BASE_URL", Path: "/v1"}},
		Charges:          EstimateThenActual, ResetMeans: ResetUsable, SmallestInputTokens: 1,
	},
	{
		Name: "Fireworks", Route: "fireworks", DefaultBaseURL: "https://api.fireworks.ai",
		BaseURLVariables: []Variable{{Name: "FIREWORKS_BASE_URL"}},
		Charges:          EstimateThenActual, ResetMeans: ResetUsable, TokensApart: true, SmallestInputTokens: 1,
	},
	{
		Name: "DeepSeek", Route: "deepseek", DefaultBaseURL: "https://api.deepseek.com",
		Charges: EstimateThenActual, ResetMeans: ResetUsable, SmallestInputTokens: 1,
	},
	{
		Name: "XAI", Route: "xai", Aliases: []string{"x-ai"}, DefaultBaseURL: "https://api.x.ai",
		Charges: EstimateThenActual, ResetMeans: ResetUsable, SmallestInputTokens: 1,
	},
	{
		Name: "Perplexity", Route: "perplexity", DefaultBaseURL: "https://api.perplexity.ai",
		BaseURLVariables: []Variable{{Name: "PERPLEXITY_BASE_URL"}},
		Charges:          EstimateThenActual, ResetMeans: ResetUsable, SmallestInputTokens: 1,
	},
	{
		Name: "OpenRouter", Route: "openrouter", DefaultBaseURL: "https://openrouter.ai",
		// Attempts that failed count towards the free models' day.
		Charges: EstimateThenActual, ResetMeans: ResetUsable, ChargesRejected: true, SmallestInputTokens: 1,
	},
	{
		Name: "GitHubModels", Route: "githubmodels", Aliases: []string{"github-models"}, DefaultBaseURL: "https://models.github.ai",
		Charges: EstimateThenActual, ResetMeans: ResetUsable, SmallestInputTokens: 1,
	},
	{
		Name: "HuggingFace", Route: "huggingface", Aliases: []string{"hugging-face"}, DefaultBaseURL: "https://router.huggingface.co",
		Charges: EstimateThenActual, ResetMeans: ResetUsable, SmallestInputTokens: 1,
	},
	{
		Name: "SelfHosted", Route: "selfhosted", Aliases: []string{"self-hosted", "vllm", "tgi", "ollama"},
		Charges: EstimateThenActual, ResetMeans: ResetUsable, SmallestInputTokens: 1,
		ExampleBaseURL: "http://vllm.models.svc:8000",
	},
	{
		Name: "Generic", Route: "generic",
		Charges: EstimateThenActual, ResetMeans: ResetUsable, SmallestInputTokens: 1,
		ExampleBaseURL: "https://llm.example.com",
	},
}
