// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package reply

import (
	"encoding/json"
	"net/http"
)

// The shapes of the formats, for failures whose body has another.
type (
	chatError struct {
		Error chatDetail `json:"error"`
	}
	chatDetail struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	}
	responsesEvent struct {
		Type           string          `json:"type"`
		SequenceNumber int             `json:"sequence_number"`
		Error          json.RawMessage `json:"error"`
	}
	messagesEvent struct {
		Type  string         `json:"type"`
		Error messagesDetail `json:"error"`
	}
	messagesDetail struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	googleError struct {
		Error googleDetail `json:"error"`
	}
	googleDetail struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Status  string `json:"status"`
	}
	// cohereEnd is the end of a stream, with a finish reason and words.
	cohereEnd struct {
		Type  string      `json:"type"`
		Delta cohereDelta `json:"delta"`
	}
	cohereDelta struct {
		FinishReason string `json:"finish_reason"`
		Error        string `json:"error"`
	}
)

func chatType(status int) string {
	switch {
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status >= http.StatusBadRequest && status < http.StatusInternalServerError:
		return "invalid_request_error"
	}
	return "server_error"
}

// messagesType is the type by which Anthropic tells the statuses apart.
func messagesType(status int) string {
	switch status {
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case statusOverloaded:
		return "overloaded_error"
	}
	if status >= http.StatusBadRequest && status < http.StatusInternalServerError {
		return "invalid_request_error"
	}
	return "api_error"
}

const statusOverloaded = 529

func googleName(status int) string {
	switch {
	case status == http.StatusTooManyRequests:
		return "RESOURCE_EXHAUSTED"
	case status >= http.StatusBadRequest && status < http.StatusInternalServerError:
		return "FAILED_PRECONDITION"
	}
	return "UNAVAILABLE"
}
