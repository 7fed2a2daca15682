// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// paths are requests whose answers a person may paste, the likeliest first. A dialect takes each to be what it
// would be for its provider, so that those of other providers do no harm.
var paths = [...]string{
	"/chat/completions", "/v1/chat/completions", "/v1/messages", "/v1/responses", "/responses", "/v1/completions",
	"/v1/embeddings",
	"/v1beta/models/m:generateContent", "/v1beta/models/m:streamGenerateContent",
	"/v1/projects/p/locations/l/publishers/google/models/m:generateContent",
	"/v1/projects/p/locations/l/publishers/google/models/m:streamGenerateContent",
	"/v1/projects/p/locations/l/publishers/anthropic/models/m:rawPredict",
	"/v1/projects/p/locations/l/publishers/anthropic/models/m:streamRawPredict",
	"/model/m/converse", "/model/m/converse-stream", "/model/m/invoke", "/model/m/invoke-with-response-stream",
	"/v2/chat", "/v1/chat", "/v2/embed", "/api/chat", "/api/generate", "/api/embed", "/generate", "/generate_stream",
	"/openai/deployments/m/chat/completions", "/openai/v1/responses",
}

// operations are the dialect's metered operations, one for each format and way of answering.
func operations(d dialect.Dialect) (ops []dialect.Operation) {
	type kind struct {
		format         dialect.Format
		stream, embeds bool
	}
	seen := map[kind]bool{}
	for _, path := range paths {
		op := d.Operation(http.MethodPost, path)
		k := kind{op.Format, op.Stream, op.Name == "embeddings"}
		if op.Metered && !seen[k] {
			seen[k] = true
			ops = append(ops, op)
		}
	}
	return ops
}

// isStream goes by the response's type, and without one by how the body begins.
func isStream(resp Response) bool {
	kind := strings.ToLower(resp.Header.Get("Content-Type"))
	for _, stream := range [...]string{"text/event-stream", "application/x-ndjson", "application/vnd.amazon.eventstream"} {
		if strings.HasPrefix(kind, stream) {
			return true
		}
	}
	if kind != "" {
		return false
	}
	body := bytes.TrimLeft(resp.Body, "\ufeff\r\n ")
	return bytes.HasPrefix(body, []byte("data:")) || bytes.HasPrefix(body, []byte("event:")) || bytes.HasPrefix(body, []byte(": "))
}
