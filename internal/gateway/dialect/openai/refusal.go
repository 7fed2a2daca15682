// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package openai

import "net/http"

// errorBody is the API's error document.
type errorBody struct {
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    string  `json:"code"`
}

func refusalBody(status int, message string) errorBody {
	if status == http.StatusTooManyRequests {
		return errorBody{errorDetail{Message: message, Type: "rate_limit_error", Code: "rate_limit_exceeded"}}
	}
	return errorBody{errorDetail{Message: message, Type: "server_error", Code: "service_unavailable"}}
}
