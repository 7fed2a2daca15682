// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package google

import (
	"net/http"
	"strconv"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/reply"
)

// errorBody is the error document of Google's APIs.
type errorBody struct {
	Error status `json:"error"`
}

type status struct {
	Code    int      `json:"code"`
	Message string   `json:"message"`
	Status  string   `json:"status"`
	Details []detail `json:"details,omitempty"`
}

type detail struct {
	Type       string `json:"@type"`
	RetryDelay string `json:"retryDelay"`
}

// Refusal implements dialect.Dialect. SDKs that wait for the provider's word read it in the body alone.
func (Dialect) Refusal(r dialect.Refusal) (int, http.Header, []byte) {
	code := reply.Status(r)
	body := document(code, r.Message)
	body.Error.Details = []detail{{
		Type: "type.googleapis.com/google.rpc.RetryInfo", RetryDelay: strconv.FormatInt(reply.Seconds(r.RetryAfter), 10) + "s",
	}}
	return code, reply.Headers(r), reply.JSON(body)
}

// StreamError implements dialect.Dialect.
func (Dialect) StreamError(op dialect.Operation, f dialect.StreamFailure) []byte {
	return reply.StreamError(op.Format, f)
}

func document(code int, message string) errorBody {
	name := "UNAVAILABLE"
	if code == http.StatusTooManyRequests {
		name = "RESOURCE_EXHAUSTED"
	}
	return errorBody{status{Code: code, Message: message, Status: name}}
}
