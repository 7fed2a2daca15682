// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"fmt"
	"net/http"
)

// genericAPI is an API of no provider in particular: it says Retry-After and nothing else.
type genericAPI struct{}

var echoOperation = operation{name: "echo", answer: echoAnswer}

type genericError struct {
	Error string `json:"error"`
}

type echo struct {
	Method     string `json:"method"`
	Path       string `json:"path"`
	BodyBytes  int64  `json:"bodyBytes"`
	BodySHA256 string `json:"bodySHA256"`
}

func echoAnswer(c *call) any {
	return echo{c.r.Method, c.r.URL.Path, c.body.bytes, c.body.sha256}
}

func (genericAPI) requestID(n uint64) (header, id string) { return "X-Request-Id", reqID(n) }

func (genericAPI) limitHeaders(http.Header, *call, []level) {}

func (genericAPI) throttle(_ *call, t throttled) (int, any) {
	return http.StatusTooManyRequests, genericError{fmt.Sprintf("rate limit exceeded: %s", t.level.Budget)}
}

func (genericAPI) fault(_ *call, status int, message string) (int, any) {
	return status, genericError{message}
}

func (genericAPI) quota(*call) (int, any) {
	return http.StatusPaymentRequired, genericError{"quota exhausted"}
}

func (genericAPI) overload(*call) (int, any) {
	return http.StatusServiceUnavailable, genericError{"overloaded"}
}

func (genericAPI) streamError(*call) []event { return nil }
