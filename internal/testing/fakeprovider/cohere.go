// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"fmt"
	"net/http"
)

var cohereProvider = &provider{
	dialect: Cohere,
	find: routes(
		post("/v2/chat", &cohereChatOperation),
		post("/v2/embed", &cohereEmbedOperation),
		post("/v2/rerank", &rerankOperation),
		get("/v1/models(?:/(?P<model>.+))?", &cohereModels),
	),
	api:     cohereAPI{},
	charges: EstimateThenActual, guidance: GuidanceOwn,
}

// cohereAPI is what Cohere says around an answer: limits on success only, and a message on failure.
type cohereAPI struct{}

type cohereError struct {
	ID      string `json:"id"`
	Message string `json:"message"`
}

func (cohereAPI) requestID(n uint64) (header, id string) {
	return "X-Debug-Trace-Id", fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
}

// limitHeaders are those of a trial key.
func (cohereAPI) limitHeaders(h http.Header, c *call, budgets []level) {
	if c.status >= http.StatusMultipleChoices {
		return
	}
	for _, b := range budgets {
		if b.Budget == Requests {
			h.Set("X-Trial-Endpoint-Call-Limit", integer(b.Amount))
			h.Set("X-Trial-Endpoint-Call-Remaining", c.remaining(b))
			h.Set("X-Endpoint-Monthly-Call-Limit", "1000")
		}
	}
}

func (cohereAPI) throttle(c *call, t throttled) (int, any) {
	return http.StatusTooManyRequests, cohereError{c.id, fmt.Sprintf("You are using a Trial key, which is limited to %s "+
		"API calls / %s. You can continue to use the Trial key for free or upgrade to a Production key with higher rate "+
		"limits at 'https://dashboard.cohere.com/api-keys'.", integer(t.level.Amount), longWindow(t.level.Window))}
}

func (cohereAPI) fault(c *call, status int, message string) (int, any) {
	switch {
	case status == http.StatusUnauthorized:
		message = "invalid api token"
	case status == http.StatusNotFound && c.op != nil:
		message = fmt.Sprintf("model '%s' not found, make sure the correct model ID was used and that you have access to "+
			"the model.", clip(message, maxModelName))
	case status >= http.StatusInternalServerError:
		message = "internal server error, this has been reported to our developers."
	}
	return status, cohereError{c.id, message}
}

func (cohereAPI) quota(c *call) (int, any) {
	return http.StatusTooManyRequests, cohereError{c.id, "You are using a Trial key, which is limited to 1000 API calls / " +
		"month. You can continue to use the Trial key for free or upgrade to a Production key with higher rate limits at " +
		"'https://dashboard.cohere.com/api-keys'."}
}

const cohereBusy = "The service is temporarily overloaded, please try again later."

func (cohereAPI) overload(c *call) (int, any) {
	return http.StatusServiceUnavailable, cohereError{c.id, cohereBusy}
}

// streamError ends the message with the error in its last event.
func (cohereAPI) streamError(*call) []event {
	return []event{{name: "message-end", data: cohereEvent{
		Type: "message-end", Delta: cohereEnd{Error: cohereBusy, FinishReason: "ERROR"},
	}}}
}
