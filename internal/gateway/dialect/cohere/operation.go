// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package cohere

import (
	"net/http"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/openai"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/urlpath"
)

const compatibility = "/compatibility/v1"

// second are the endpoints that the second version has; all others are of the first.
var second = []string{"chat", "embed", "rerank"}

// Path implements dialect.Dialect.
func (Dialect) Path(path string) string {
	path = urlpath.Clean(path)
	head, _, _ := strings.Cut(path[1:], "/")
	if slices.Contains(second, strings.TrimSuffix(path[1:], "/")) {
		return urlpath.Versioned(path, "/v2")
	}
	if head == "compatibility" {
		return path
	}
	path = urlpath.Versioned(path, "/v1")
	if _, rest, _ := strings.Cut(path[1:], "/"); strings.HasPrefix(rest, "chat/completions") || strings.HasPrefix(rest, "embeddings") {
		return compatibility + "/" + rest // OpenAI's API, from an app whose base URL is no more than the route
	}
	return path
}

// Operation implements dialect.Dialect.
func (d Dialect) Operation(method, path string) dialect.Operation {
	path = strings.TrimSuffix(d.Path(path), "/")
	if rest, ok := strings.CutPrefix(path, compatibility+"/"); ok {
		return openai.OperationOf(method, rest)
	}
	_, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/") // behind the version
	if method != http.MethodPost {
		head, _, _ := strings.Cut(rest, "/")
		return dialect.Operation{Name: "other", Free: head == "models" && (method == http.MethodGet || method == http.MethodHead)}
	}
	switch rest {
	case "chat":
		return dialect.Operation{Name: "chat", Format: dialect.FormatCohere, Metered: true}
	case "embed":
		return dialect.Operation{Name: "embeddings", Format: dialect.FormatCohere, Metered: true}
	case "generate", "summarize":
		return dialect.Operation{Name: "generate", Format: dialect.FormatCohere, Metered: true}
	case "tokenize", "detokenize", "check-api-key":
		return dialect.Operation{Name: "other", Free: true}
	}
	return dialect.Operation{Name: "other"}
}
