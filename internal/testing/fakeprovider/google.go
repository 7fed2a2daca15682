// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// googleAPI is what both of Google's APIs say around an answer: no headers, and a status document on failure.
type googleAPI struct {
	// throttled makes the status of a refusal for lack of budget, spent that of one for lack of money.
	throttled func(c *call, t throttled) googleStatus
	spent     func(c *call) googleStatus
	busy      string
	// broken are the events of a failure inside a stream that is none of Google's own; nil events if it is.
	broken func(c *call) []event
}

const googleJSON = "application/json; charset=UTF-8"

// googleStatus is google.rpc.Status as JSON.
type googleStatus struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Status  string `json:"status"`
	Details []any  `json:"details,omitempty"`
}

type googleError struct {
	Error googleStatus `json:"error"`
}

const googleTypes = "type.googleapis.com/google.rpc."

type quotaFailure struct {
	Type       string           `json:"@type"`
	Violations []quotaViolation `json:"violations"`
}

type quotaViolation struct {
	Metric     string            `json:"quotaMetric"`
	ID         string            `json:"quotaId"`
	Dimensions map[string]string `json:"quotaDimensions,omitempty"`
	Value      string            `json:"quotaValue,omitempty"`
}

type retryInfo struct {
	Type  string `json:"@type"`
	Delay string `json:"retryDelay"`
}

type errorInfo struct {
	Type     string            `json:"@type"`
	Reason   string            `json:"reason"`
	Domain   string            `json:"domain"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// googleBody is a failure as it goes over the wire: indented, and in an array where the answer would have been
// one.
func (c *call) googleBody(s googleStatus) (int, any) {
	var doc any = googleError{s}
	if c.framing() == (jsonArray{}) {
		doc = []any{doc}
	}
	body, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		panic(err) // a document of our own, which always can be encoded
	}
	return s.Code, typed{googleJSON, append(body, '\n')}
}

func (googleAPI) requestID(n uint64) (header, id string) { return "", fmt.Sprintf("%022d", n) }

func (googleAPI) limitHeaders(http.Header, *call, []level) {}

func (g googleAPI) throttle(c *call, t throttled) (int, any) { return c.googleBody(g.throttled(c, t)) }

func (g googleAPI) quota(c *call) (int, any) { return c.googleBody(g.spent(c)) }

func (g googleAPI) overload(c *call) (int, any) { return c.googleBody(g.overloaded()) }

func (g googleAPI) overloaded() googleStatus {
	return googleStatus{Code: http.StatusServiceUnavailable, Message: g.busy, Status: "UNAVAILABLE"}
}

func (g googleAPI) streamError(c *call) []event {
	if g.broken != nil {
		if own := g.broken(c); own != nil {
			return own
		}
	}
	return []event{{data: googleError{g.overloaded()}}}
}

func (g googleAPI) fault(c *call, status int, message string) (int, any) {
	s := googleStatus{Code: status, Message: message}
	switch {
	case status == http.StatusUnauthorized && c.key != "" && c.dialect == Gemini:
		s.Code, s.Message = http.StatusBadRequest, "API key not valid. Please pass a valid API key."
		s.Details = []any{errorInfo{
			googleTypes + "ErrorInfo", "API_KEY_INVALID", "googleapis.com",
			map[string]string{"service": "generativelanguage.googleapis.com"},
		}}
	case status == http.StatusUnauthorized && c.dialect == Gemini:
		s.Code = http.StatusForbidden
		s.Message = "Method doesn't allow unregistered callers (callers without established identity). Please use API " +
			"Key or other form of API consumer identity to call this API."
	case status == http.StatusUnauthorized:
		s.Message = "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or " +
			"other valid authentication credential."
	case status == http.StatusNotFound && c.op != nil:
		s.Message = fmt.Sprintf("models/%s is not found for API version v1beta, or is not supported for this method.",
			clip(message, maxModelName))
	case status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable:
		s.Message = "An internal error has occurred. Please retry or report."
	case status == http.StatusServiceUnavailable:
		s.Message = g.busy
	}
	s.Status = googleCode(s.Code)
	return c.googleBody(s)
}

// googleCode is the name of the code that goes with an HTTP status.
func googleCode(status int) string {
	if name, ok := googleCodes[status]; ok {
		return name
	}
	if status >= http.StatusInternalServerError {
		return "INTERNAL"
	}
	return "INVALID_ARGUMENT"
}

var googleCodes = map[int]string{
	http.StatusUnauthorized: "UNAUTHENTICATED", http.StatusForbidden: "PERMISSION_DENIED",
	http.StatusNotFound: "NOT_FOUND", http.StatusConflict: "ABORTED", http.StatusTooManyRequests: "RESOURCE_EXHAUSTED",
	http.StatusServiceUnavailable: "UNAVAILABLE", http.StatusGatewayTimeout: "DEADLINE_EXCEEDED",
	499: "CANCELLED",
}

// pacific is where a day's quotas come back at midnight, taken without daylight saving.
var pacific = time.FixedZone("PST", -8*60*60)

// untilMidnight is the time until a day's quotas come back.
func (c *call) untilMidnight() time.Duration {
	now := c.s.clock().In(pacific)
	midnight := time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, pacific)
	return midnight.Sub(now)
}

// windowWord is a window as Google's quota ids name it.
func windowWord(d time.Duration) string {
	word := longWindow(d)
	return strings.ToUpper(word[:1]) + word[1:]
}
