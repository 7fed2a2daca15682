// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/anthropic"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/bedrock"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/cohere"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/gemini"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/generic"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/groq"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/openai"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/selfhosted"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/vertexai"
)

// dialects holds one line for each.
var dialects = []dialect.Dialect{
	anthropic.Dialect{},
	bedrock.Dialect{},
	cohere.Dialect{},
	gemini.Dialect{},
	generic.Dialect{},
	groq.Dialect,
	openai.Dialect{},
	selfhosted.Dialect,
	vertexai.Dialect{},
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
