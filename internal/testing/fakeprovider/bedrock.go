// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"encoding/json"
	"fmt"
	"net/http"
)

var bedrockProvider = &provider{
	dialect: Bedrock,
	find: routes(
		post("/model/(?P<model>.+)/converse", &converseOperation),
		streamed("/model/(?P<model>.+)/converse-stream", &converseStreamOperation),
		post("/model/(?P<model>.+)/invoke", &invokeOperation),
		streamed("/model/(?P<model>.+)/invoke-with-response-stream", &invokeStreamOperation),
		post("/model/(?P<model>.+)/count-tokens", &bedrockCountOperation),
	),
	api: bedrockAPI{}, keys: keyPlaces{signed: true},
	limits:  []Limit{perMinute(Tokens, 400_000)},
	charges: EstimateThenActual, guidance: GuidanceOwn, cacheOutside: true, cacheReserved: true,
}

// bedrockAPI is what the runtime of Amazon Bedrock says around an answer: an error's name in a header, its
// message in the body, and nothing of limits.
type bedrockAPI struct{}

type awsError struct {
	Message string `json:"message"`
}

// awsErr names the error as the service does.
func (c *call) awsErr(status int, name, message string) (int, any) {
	c.w.Header().Set("X-Amzn-Errortype", name+":http://internal.amazon.com/coral/com.amazon.bedrock/")
	return status, awsError{message}
}

func (bedrockAPI) requestID(n uint64) (header, id string) {
	return "X-Amzn-Requestid", fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
}

func (bedrockAPI) limitHeaders(http.Header, *call, []level) {}

const (
	bedrockThrottling = "ThrottlingException"
	bedrockBusy       = "Bedrock is unable to process your request."
)

func (bedrockAPI) throttle(c *call, t throttled) (int, any) {
	what := "tokens"
	if t.level.Budget == Requests {
		what = "requests"
	}
	if windowWord(t.level.Window) == "Day" {
		what += " per day"
	}
	return c.awsErr(http.StatusTooManyRequests, bedrockThrottling,
		"Too many "+what+", please wait before trying again.")
}

func (bedrockAPI) quota(c *call) (int, any) {
	return c.awsErr(http.StatusTooManyRequests, bedrockThrottling,
		"Too many tokens per day, please wait before trying again.")
}

func (bedrockAPI) overload(c *call) (int, any) {
	return c.awsErr(http.StatusServiceUnavailable, "ServiceUnavailableException", bedrockBusy)
}

func (bedrockAPI) streamError(*call) []event {
	return []event{{name: "serviceUnavailableException", exception: true, data: awsError{bedrockBusy}}}
}

func (bedrockAPI) fault(c *call, status int, message string) (int, any) {
	switch {
	case status == http.StatusUnauthorized && c.key == "":
		return c.awsErr(http.StatusForbidden, "MissingAuthenticationTokenException", "Missing Authentication Token")
	case status == http.StatusUnauthorized:
		return c.awsErr(http.StatusForbidden, "AccessDeniedException",
			"Authentication failed: Please make sure your API Key is valid.")
	case status == http.StatusForbidden && message == unknownKey:
		return c.awsErr(status, "UnrecognizedClientException", message)
	case status == http.StatusForbidden && (message == wrongSignature || message == staleRequest):
		return c.awsErr(status, "InvalidSignatureException", message)
	case status == http.StatusNotFound && c.op == nil:
		return c.awsErr(status, "UnknownOperationException", "")
	case status == http.StatusNotFound:
		return c.awsErr(http.StatusBadRequest, "ValidationException", "The provided model identifier is invalid.")
	case status == http.StatusTooManyRequests:
		return c.awsErr(status, bedrockThrottling, "Too many requests, please wait before trying again.")
	}
	if name, ok := bedrockErrors[status]; ok {
		return c.awsErr(status, name, message)
	}
	if status >= http.StatusInternalServerError {
		return c.awsErr(status, "InternalServerException", "The system encountered an unexpected error during processing.")
	}
	return c.awsErr(status, "ValidationException", message)
}

// bedrockErrors are the errors that have a status to themselves.
var bedrockErrors = map[int]string{
	http.StatusForbidden:          "AccessDeniedException",
	http.StatusRequestTimeout:     "ModelTimeoutException",
	http.StatusFailedDependency:   "ModelErrorException",
	http.StatusServiceUnavailable: "ServiceUnavailableException",
}

var bedrockCountOperation = operation{
	name: "count_tokens", free: true, decode: decodeBedrockCount, valid: func(*request) string { return "" },
	answer: func(c *call) any { return map[string]int64{"inputTokens": c.size.input} },
}

// decodeBedrockCount reads the request whose tokens are to be counted, where that is of Converse.
func decodeBedrockCount(body []byte, r *request) error {
	var doc struct {
		Input struct {
			Converse struct {
				Messages json.RawMessage `json:"messages"`
				System   json.RawMessage `json:"system"`
			} `json:"converse"`
		} `json:"input"`
	}
	err := json.Unmarshal(body, &doc)
	if converse := doc.Input.Converse; len(converse.Messages) > 0 {
		r.Input, r.Messages, r.System = nil, converse.Messages, converse.System
	}
	return err
}
