// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/anthropic"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/azureopenai"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/bedrock"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/cerebras"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/cohere"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/deepseek"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/fireworks"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/gemini"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/generic"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/githubmodels"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/groq"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/huggingface"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/mistral"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/openai"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/openrouter"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/perplexity"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/selfhosted"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/together"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/vertexai"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/xai"
)

// dialects holds one line for each.
var dialects = []dialect.Dialect{
	anthropic.Dialect{},
	azureopenai.New(),
	bedrock.Dialect{},
	cerebras.Dialect,
	cohere.Dialect{},
	deepseek.Dialect,
	fireworks.Dialect,
	gemini.Dialect{},
	generic.Dialect{},
	githubmodels.Dialect,
	groq.Dialect,
	huggingface.Dialect,
	mistral.Dialect,
	openai.Dialect{},
	openrouter.Dialect,
	perplexity.Dialect,
	selfhosted.Dialect,
	together.Dialect,
	vertexai.Dialect{},
	xai.Dialect,
}

// ByName returns the dialect a plan calls name ("OpenAI"); nil if there is none.
func ByName(name string) dialect.Dialect {
	for _, d := range dialects {
		if d.Facts().Name == name {
			return d
		}
	}
	return nil
}

// ByRoute returns the dialect whose built-in route is route ("openai"); nil if there is none.
func ByRoute(route string) dialect.Dialect {
	for _, d := range dialects {
		if d.Facts().Route == route {
			return d
		}
	}
	return nil
}
