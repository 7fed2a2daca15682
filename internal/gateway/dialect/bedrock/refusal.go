// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package bedrock

import (
	"net/http"
	"strconv"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/reply"
	"github.com/headgate-dev/headgate/internal/gateway/eventstream"
)

// errorBody is the document of every exception; its name is in a header.
type errorBody struct {
	Message string `json:"message"`
}

// Refusal implements dialect.Dialect. AWS's SDKs know no header that ends their retries, but newer ones wait as long
// as theirs says, in milliseconds.
func (Dialect) Refusal(r dialect.Refusal) (int, http.Header, []byte) {
	status, h := reply.Status(r), reply.Headers(r)
	h[headerErrorType] = []string{"ServiceUnavailableException"}
	if status == http.StatusTooManyRequests {
		h[headerErrorType] = []string{"ThrottlingException"}
	}
	h["X-Amz-Retry-After"] = []string{strconv.FormatInt(reply.Seconds(r.RetryAfter)*1000, 10)}
	return status, h, reply.JSON(errorBody{Message: r.Message})
}

// StreamError implements dialect.Dialect. What Bedrock serves in the formats of others has their events.
func (Dialect) StreamError(op dialect.Operation, f dialect.StreamFailure) []byte {
	switch op.Format {
	case dialect.FormatChat, dialect.FormatResponses, dialect.FormatMessages:
		return reply.StreamError(op.Format, f)
	default:
		return eventstream.Append(nil, []eventstream.Header{
			{Name: ":exception-type", Value: "serviceUnavailableException"},
			{Name: ":content-type", Value: "application/json"},
			{Name: ":message-type", Value: "exception"},
		}, reply.JSON(errorBody{Message: f.Message}))
	}
}
