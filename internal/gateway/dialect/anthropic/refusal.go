// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package anthropic

import "net/http"

// errorBody is the API's error document and event.
type errorBody struct {
	Type  string      `json:"type"`
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

func refusalBody(status int, message string) errorBody {
	kind := "api_error"
	if status == http.StatusTooManyRequests {
		kind = "rate_limit_error"
	}
	return errorBody{Type: "error", Error: errorDetail{Type: kind, Message: message}}
}
