// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// openAIAPI is what is said around an answer of the OpenAI API.
type openAIAPI struct{}

type openAIError struct {
	Error openAIErrorBody `json:"error"`
}

type openAIErrorBody struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

func openAIErr(kind, code, message string) openAIError {
	e := openAIError{openAIErrorBody{Message: message, Type: kind}}
	if code != "" {
		e.Error.Code = &code
	}
	return e
}

func (openAIAPI) requestID(n uint64) (header, id string) { return "X-Request-Id", reqID(n) }

// reqID is a request's id as OpenAI and Anthropic write it.
func reqID(n uint64) string { return fmt.Sprintf("req_%024d", n) }

// limitHeaders: resets are the time to a full bucket, as Go writes durations.
func (openAIAPI) limitHeaders(h http.Header, c *call, budgets []level) {
	h.Set("Openai-Version", "2020-10-01")
	h.Set("Openai-Organization", organization)
	openAILimits(h, c, budgets)
}

var openAILimits = report(resetDuration, openAINames...)

const organization = "org-fake"

// integer writes a number without its fraction.
func integer(v float64) string { return strconv.FormatInt(int64(v), 10) }

// remaining is a level as it is reported: never below zero, tokens rounded as the dialect does.
func (c *call) remaining(b level) string {
	step := 1.0
	if b.Budget != Requests {
		step = c.s.opts.Profiles[c.dialect].RemainingRoundedTo
	}
	steps := int64(max(0, b.remaining)/step + roundingOf(step))
	return strconv.FormatInt(steps*int64(step), 10)
}

// roundingOf: single units are cut, larger steps go to the nearest.
func roundingOf(step float64) float64 {
	if step > 1 {
		return 0.5
	}
	return 1e-6 // the buckets' own rounding error
}

func (openAIAPI) throttle(c *call, t throttled) (int, any) {
	return http.StatusTooManyRequests, c.openAIThrottle(t)
}

func (c *call) openAIThrottle(t throttled) openAIError {
	kind, unit := "tokens", "tokens per "
	if t.level.Budget == Requests {
		kind, unit = "requests", "requests per "
	}
	short := map[string]string{"requests": "RP", "tokens": "TP"}[kind]
	window, letter := windowName(t.level.Window)
	where := fmt.Sprintf("for %s in organization %s on %s%s (%s%s): Limit %s",
		c.req.Model, organization, unit, window, short, letter, integer(t.level.Amount))
	if t.never {
		return openAIErr(kind, "rate_limit_exceeded", fmt.Sprintf("Request too large %s, Requested %s. The input or "+
			"output tokens must be reduced in order to run successfully. Visit "+
			"https://platform.openai.com/account/rate-limits to learn more.", where, integer(t.cost)))
	}
	message := "Rate limit reached " + where
	if c.guided(t) {
		used := min(t.level.Burst, max(0, t.level.Burst-t.level.remaining))
		wait := time.Duration(ceilTo(t.wait, time.Millisecond)) * time.Millisecond
		message += fmt.Sprintf(", Used %s, Requested %s. Please try again in %s", integer(used), integer(t.cost), wait)
	}
	return openAIErr(kind, "rate_limit_exceeded",
		message+". Visit https://platform.openai.com/account/rate-limits to learn more.")
}

// windowName is a window as messages name it: "min", and M as in TPM.
func windowName(d time.Duration) (name, letter string) {
	switch {
	case d <= time.Second:
		return "sec", "S"
	case d <= time.Minute:
		return "min", "M"
	case d <= time.Hour:
		return "hour", "H"
	default:
		return "day", "D"
	}
}

func (openAIAPI) fault(c *call, status int, message string) (int, any) {
	return status, c.openAIFault(status, message)
}

func (c *call) openAIFault(status int, message string) openAIError {
	switch {
	case status == http.StatusUnauthorized:
		return openAIErr("invalid_request_error", "invalid_api_key",
			"Incorrect API key provided: sk-***. You can find your API key at https://platform.openai.com/account/api-keys.")
	case status == http.StatusNotFound && c.op != nil:
		return openAIErr("invalid_request_error", "model_not_found",
			fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", clip(message, maxModelName)))
	case status == http.StatusServiceUnavailable:
		return openAIErr("server_error", "", overloadedText)
	case status >= http.StatusInternalServerError:
		return openAIErr("server_error", "",
			"The server had an error while processing your request. Sorry about that!")
	case status == http.StatusTooManyRequests:
		return openAIErr("requests", "rate_limit_exceeded", "Rate limit reached.")
	default:
		return openAIErr("invalid_request_error", "", message)
	}
}

const overloadedText = "That model is currently overloaded with other requests. You can retry your request, " +
	"or contact us through our help center at help.openai.com if the error persists."

func (openAIAPI) quota(*call) (int, any) {
	return http.StatusTooManyRequests, openAIErr("insufficient_quota", "insufficient_quota",
		"You exceeded your current quota, please check your plan and billing details. For more information on "+
			"this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.")
}

func (openAIAPI) overload(*call) (int, any) {
	return http.StatusServiceUnavailable, openAIErr("server_error", "", overloadedText)
}

func (openAIAPI) streamError(c *call) []event {
	if c.op == &responsesOperation {
		return responsesFailure(c)
	}
	return []event{{data: openAIErr("server_error", "", overloadedText)}}
}
