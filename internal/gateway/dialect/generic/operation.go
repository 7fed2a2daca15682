// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package generic

import (
	"net/http"
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/openai"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/urlpath"
)

const messages = "messages"

// Path implements dialect.Dialect. Where a provider's API begins is known to its base URL alone.
func (Dialect) Path(path string) string { return urlpath.Clean(path) }

// Operation implements dialect.Dialect: the end of the path tells, wherever the API begins.
func (d Dialect) Operation(method, path string) dialect.Operation {
	path = strings.TrimSuffix(d.Path(path), "/")
	for _, end := range [...]string{"chat/completions", "responses/input_tokens", "responses", "embeddings", "completions", "models"} {
		if strings.HasSuffix(path, "/"+end) {
			return openai.OperationOf(method, end)
		}
	}
	switch {
	case method != http.MethodPost:
	case strings.HasSuffix(path, "/messages"):
		return dialect.Operation{Name: messages, Format: dialect.FormatMessages, Metered: true}
	case strings.HasSuffix(path, "/messages/count_tokens"):
		return dialect.Operation{Name: "other", Free: true}
	}
	return dialect.Operation{Name: "other"}
}
