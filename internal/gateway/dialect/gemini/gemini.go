// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package gemini

import (
	"net/http"
	"strings"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/google"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/openai"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/urlpath"
)

// Dialect implements dialect.Dialect.
type Dialect struct{ google.Dialect }

var _ dialect.Dialect = Dialect{}

// Facts implements dialect.Dialect.
func (Dialect) Facts() facts.Facts {
	f, _ := facts.ByName("Gemini")
	return f
}

const version = "/v1beta"

// Path implements dialect.Dialect. A path of OpenAI's API is led to where it lies, for apps whose base URL is no more
// than the route.
func (Dialect) Path(path string) string {
	path = urlpath.Versioned(path, version, "upload", "download")
	_, rest, _ := strings.Cut(path[1:], "/")
	if head, _, _ := strings.Cut(rest, "/"); head == "chat" || head == "embeddings" {
		return version + "/openai/" + rest
	}
	return path
}

// Operation implements dialect.Dialect. The Interactions API keeps its own state at the provider; its calls are
// counted, not metered.
func (d Dialect) Operation(method, path string) dialect.Operation {
	_, rest, _ := strings.Cut(strings.Trim(d.Path(path), "/"), "/") // behind the version
	collection, member, _ := strings.Cut(rest, "/")
	switch collection {
	case "openai":
		return openai.OperationOf(method, member)
	case "models", "tunedModels", "dynamic":
	default:
		return dialect.Operation{Name: "other"}
	}
	switch {
	case google.IsRead(method):
		return dialect.Operation{Name: "other", Free: true}
	case method == http.MethodPost && !strings.Contains(member, "/"):
		return google.Method(member)
	}
	return dialect.Operation{Name: "other"}
}
