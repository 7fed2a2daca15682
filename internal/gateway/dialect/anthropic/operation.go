// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package anthropic

import (
	"net/http"
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/urlpath"
)

// The operations.
const (
	messages = "messages"
	other    = "other"
)

const version = "/v1"

// Path implements dialect.Dialect.
func (Dialect) Path(path string) string { return urlpath.Versioned(path, version, "api") }

// Operation implements dialect.Dialect.
func (d Dialect) Operation(method, path string) dialect.Operation {
	rest, ok := strings.CutPrefix(d.Path(path), version+"/")
	rest = strings.TrimSuffix(rest, "/")
	switch {
	case !ok:
	case method == http.MethodGet || method == http.MethodHead:
		return dialect.Operation{Name: other, Free: rest == "models" || strings.HasPrefix(rest, "models/")}
	case method != http.MethodPost:
	case rest == "messages":
		return dialect.Operation{Name: messages, Format: dialect.FormatMessages, Metered: true}
	case rest == "messages/count_tokens":
		return dialect.Operation{Name: other, Free: true}
	}
	return dialect.Operation{Name: other}
}
