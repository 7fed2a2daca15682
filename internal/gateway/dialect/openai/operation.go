// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package openai

import (
	"net/http"
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/urlpath"
)

// The operations.
const (
	chat        = "chat"
	responses   = "responses"
	embeddings  = "embeddings"
	completions = "completions"
	other       = "other"
)

const version = "/v1"

// Path implements dialect.Dialect. Everything lies below the version but the dashboard.
func (Dialect) Path(path string) string { return urlpath.Versioned(path, version, "dashboard") }

// Operation implements dialect.Dialect.
func (d Dialect) Operation(method, path string) dialect.Operation {
	rest, ok := strings.CutPrefix(d.Path(path), version+"/")
	if !ok {
		return dialect.Operation{Name: other}
	}
	return OperationOf(method, strings.TrimSuffix(rest, "/"))
}

// OperationOf says what a request to the path below the version is.
func OperationOf(method, rest string) dialect.Operation {
	if method != http.MethodPost {
		return dialect.Operation{Name: other, Free: isRead(method) && (rest == "models" || strings.HasPrefix(rest, "models/"))}
	}
	switch rest {
	case "chat/completions":
		return dialect.Operation{Name: chat, Format: dialect.FormatChat, Metered: true}
	case "responses":
		return dialect.Operation{Name: responses, Format: dialect.FormatResponses, Metered: true}
	case "embeddings":
		return dialect.Operation{Name: embeddings, Format: dialect.FormatChat, Metered: true}
	case "completions":
		return dialect.Operation{Name: completions, Format: dialect.FormatChat, Metered: true}
	case "responses/input_tokens":
		return dialect.Operation{Name: other, Free: true}
	}
	return dialect.Operation{Name: other}
}

func isRead(method string) bool { return method == http.MethodGet || method == http.MethodHead }
