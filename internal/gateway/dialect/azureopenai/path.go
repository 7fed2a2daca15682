// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package azureopenai

import (
	"net/url"
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/dialect/urlpath"
)

// The roots below which operations lie: the newer API, which has models in bodies as OpenAI's, the older one, the
// one for models of others, and Anthropic's.
const (
	version     = "/openai/v1"
	deployments = "/openai/deployments/"
	models      = "/models/"
	anthropic   = "/anthropic/v1"
)

// path completes what an app whose base URL leaves out a part means. Below /openai nothing is added, for
// /openai/responses and /openai/v1/responses are two generations of the API.
func path(path string) string {
	switch head := urlpath.Head(path); head {
	case "deployments":
		return "/openai" + path
	case "anthropic":
		return anthropic + strings.TrimPrefix(urlpath.Versioned(path[1+len(head):], "/v1"), "/v1")
	case "models":
		if path != "/models" && path != "/models/" && operation(path) {
			return path
		}
		return version + path
	case "openai":
		return openaiPath(path)
	}
	return urlpath.Versioned(path, version)
}

// operation: the path's end is one of those that exist below /models, which lists models too.
func operation(path string) bool {
	path = strings.TrimSuffix(path, "/")
	return strings.HasSuffix(path, "/chat/completions") || strings.HasSuffix(path, "/embeddings")
}

// openaiPath makes what was written twice stand once.
func openaiPath(path string) string {
	const root = "/openai"
	rest := path[len(root):]
	for urlpath.Head(rest) == root[1:] {
		rest = rest[len(root):]
	}
	if urlpath.Head(rest) == "v1" {
		return urlpath.Versioned(rest, version)
	}
	return root + rest
}

// below takes a path apart; the deployment is the model.
func below(path string) (rest, model string) {
	if rest, ok := strings.CutPrefix(path, deployments); ok {
		name, rest, _ := strings.Cut(rest, "/")
		if plain, err := url.PathUnescape(name); err == nil {
			name = plain
		}
		return rest, name
	}
	for _, root := range [...]string{version + "/", anthropic + "/", "/openai/", models} {
		if rest, ok := strings.CutPrefix(path, root); ok {
			return rest, ""
		}
	}
	return "", ""
}
