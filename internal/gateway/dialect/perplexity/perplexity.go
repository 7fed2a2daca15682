// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package perplexity

import (
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/compatible"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/urlpath"
)

// Dialect is Perplexity's. Its streams report usage by themselves, growing from chunk to chunk.
var Dialect = compatible.Dialect{Spec: compatible.Spec{
	Name: "Perplexity", Path: path, Below: below, NoUsageOption: true,
	Operations: map[string]dialect.Operation{
		"sonar": {Name: "chat", Format: dialect.FormatChat, Metered: true},
		"agent": {Name: "responses", Format: dialect.FormatResponses, Metered: true},
	},
}}

const version = "/v1"

// versioned are the first segments of paths that lie below the version; chat, search and what may come do not.
var versioned = map[string]bool{"sonar": true, "agent": true, "responses": true, "embeddings": true, "models": true}

// path takes away a version that an app's base URL ends in where the API has none, and adds the one it lacks.
func path(path string) string {
	rest := path
	for urlpath.Head(rest) == version[1:] {
		rest = rest[len(version):]
	}
	switch head := urlpath.Head(rest); {
	case versioned[head]:
		return version + rest
	case head == "chat", head == "search":
		return rest
	}
	return path
}

func below(path string) (rest, model string) {
	return strings.TrimPrefix(strings.TrimPrefix(path, version), "/"), ""
}
