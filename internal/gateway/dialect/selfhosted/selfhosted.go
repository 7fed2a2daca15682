// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package selfhosted

import (
	"net/http"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/compatible"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/urlpath"
)

// servers is OpenAI's dialect for what is not a server's own.
type servers struct{ compatible.Dialect }

// Dialect implements dialect.Dialect.
var Dialect dialect.Dialect = servers{compatible.Dialect{Spec: compatible.Spec{
	Name: "SelfHosted", Version: "/v1", Path: path, Operations: operations, Classify: classify,
}}}

// versioned are the first segments of OpenAI's API, which are nobody's own.
var versioned = []string{"v1", "chat", "completions", "embeddings", "responses", "models", "messages"}

// path leaves alone what is not OpenAI's: the servers' own paths begin in many ways.
func path(clean string) string {
	head, _, _ := strings.Cut(clean[1:], "/")
	if !slices.Contains(versioned, head) {
		return clean
	}
	return urlpath.Versioned(clean, "/v1")
}

// operations are those below /v1 that OpenAI does not have.
var operations = map[string]dialect.Operation{
	"messages":              compatible.Messages,
	"messages/count_tokens": {Name: "other", Free: true},
}

// own are the calls of Text Generation Inference and of Ollama.
var own = map[string]dialect.Operation{
	"/":                {Name: "generate", Format: dialect.FormatTGI, Metered: true},
	"/generate":        {Name: "generate", Format: dialect.FormatTGI, Metered: true},
	"/invocations":     {Name: "generate", Format: dialect.FormatTGI, Metered: true},
	"/generate_stream": {Name: "generate", Format: dialect.FormatTGI, Metered: true, Stream: true},
	"/tokenize":        {Name: "other", Free: true},
	"/detokenize":      {Name: "other", Free: true},
	"/chat_tokenize":   {Name: "other", Free: true},

	"/api/chat":       {Name: "chat", Format: dialect.FormatOllama, Metered: true},
	"/api/generate":   {Name: "generate", Format: dialect.FormatOllama, Metered: true},
	"/api/embed":      {Name: "embeddings", Format: dialect.FormatOllama, Metered: true},
	"/api/embeddings": {Name: "embeddings", Format: dialect.FormatOllama, Metered: true},
	"/api/show":       {Name: "other", Free: true},
}

// free are what may be read at no cost.
var free = []string{"/health", "/info", "/metrics", "/ping", "/version", "/api/tags", "/api/ps", "/api/version"}

// Operation implements dialect.Dialect.
func (d servers) Operation(method, path string) dialect.Operation {
	path = d.Path(path)
	if trimmed := strings.TrimRight(path, "/"); trimmed != "" {
		path = trimmed
	}
	switch op, is := own[path]; {
	case is && method == http.MethodPost:
		return op
	case slices.Contains(free, path) && (method == http.MethodGet || method == http.MethodHead):
		return dialect.Operation{Name: "other", Free: true}
	}
	return d.Dialect.Operation(method, path)
}
