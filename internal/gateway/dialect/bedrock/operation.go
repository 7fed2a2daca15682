// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package bedrock

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/openai"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/urlpath"
)

const other = "other"

// maxModel bounds a model's name. ARNs of inference profiles are below 200.
const maxModel = 256

// Path implements dialect.Dialect. Nothing is put before Bedrock's own paths, which are signed. A path of OpenAI's
// API is led to where it lies, for apps whose base URL is no more than the route.
func (Dialect) Path(path string) string {
	path = urlpath.Clean(path)
	switch head, _, _ := strings.Cut(path[1:], "/"); head {
	case "chat", "responses", "completions", "embeddings":
		return "/openai/v1" + path
	}
	return path
}

// beside are the APIs of others that lie beside Bedrock's own.
var beside = [...]string{"/openai/v1/", "/v1/"}

// Operation implements dialect.Dialect.
func (d Dialect) Operation(method, path string) dialect.Operation {
	path = strings.TrimSuffix(d.Path(path), "/")
	if rest, ok := strings.CutPrefix(path, "/model/"); ok && method == http.MethodPost {
		return ofModel(rest)
	}
	if path == "/anthropic/v1/messages" && method == http.MethodPost {
		return dialect.Operation{Name: "messages", Format: dialect.FormatMessages, Metered: true}
	}
	for _, prefix := range beside {
		if rest, ok := strings.CutPrefix(path, prefix); ok {
			return openai.OperationOf(method, rest)
		}
	}
	return dialect.Operation{Name: other}
}

// ofModel is a call to a model: ID/converse. The ID may be an ARN, whose slashes some clients leave as they are.
func ofModel(rest string) dialect.Operation {
	i := strings.LastIndexByte(rest, '/')
	if i <= 0 {
		return dialect.Operation{Name: other}
	}
	op := dialect.Operation{Name: other, Model: modelID(rest[:i])}
	switch rest[i+1:] {
	case "converse":
		op.Name, op.Format, op.Metered = "converse", dialect.FormatConverse, true
	case "converse-stream":
		op.Name, op.Format, op.Metered, op.Stream = "converse", dialect.FormatConverse, true, true
	case "invoke":
		op.Name, op.Format, op.Metered = "invoke", dialect.FormatInvoke, true
	case "invoke-with-response-stream":
		op.Name, op.Format, op.Metered, op.Stream = "invoke", dialect.FormatInvoke, true, true
	case "count-tokens":
		op.Free = true
	}
	return op
}

func modelID(escaped string) string {
	id, err := url.PathUnescape(escaped)
	if err != nil {
		id = escaped
	}
	return id[:min(len(id), maxModel)]
}
