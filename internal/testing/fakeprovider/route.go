// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"net/http"
	"strings"
)

// operation is what a call asks for, and how it is answered.
type operation struct {
	name    string
	dialect Dialect
	// free operations cost nothing.
	free bool
	// valid says what is wrong with a request, "" if nothing is.
	valid func(*request) string
	// answer is the JSON document.
	answer func(*call) any
	// stream is the events, nil where the operation has none.
	stream func(*call) events
}

// operationOf finds the operation of a request; nil if there is none, with the dialect to say so in.
func operationOf(r *http.Request) (*operation, Dialect) {
	path := "/" + strings.Trim(r.URL.Path, "/")
	dialect := OpenAI
	if r.Header.Get("Anthropic-Version") != "" || strings.HasPrefix(path, "/v1/messages") {
		dialect = Anthropic
	}
	switch {
	case path == "/echo" || path == "/generic" || strings.HasPrefix(path, "/generic/"):
		return &echoOperation, Generic
	case r.Method == http.MethodGet && (path == "/v1/models" || strings.HasPrefix(path, "/v1/models/")):
		if dialect == Anthropic {
			return &anthropicModels, dialect
		}
		return &openAIModels, dialect
	case r.Method != http.MethodPost:
		return nil, dialect
	}
	op := postOperations[path]
	if op == nil {
		return nil, dialect
	}
	return op, op.dialect
}

var postOperations = map[string]*operation{
	"/v1/chat/completions":      &chatOperation,
	"/v1/responses":             &responsesOperation,
	"/v1/embeddings":            &embeddingsOperation,
	"/v1/completions":           &completionsOperation,
	"/v1/messages":              &messagesOperation,
	"/v1/messages/count_tokens": &countTokensOperation,
}

// api is what a dialect says around an answer.
type api interface {
	// limitHeaders writes what the account's budgets are.
	limitHeaders(h http.Header, c *call, budgets []level)
	// throttle is the body of a 429 on budget.
	throttle(c *call, t throttled) any
	// fault is the body of any other status.
	fault(c *call, status int, message string) any
	// quota is the status and body once the account's money is spent.
	quota(c *call) (int, any)
	// overload is the status and body of a provider that is short of capacity.
	overload(c *call) (int, any)
	// streamError are the events of a failure inside a 200 stream.
	streamError(c *call) []event
	// requestID is the header that names the request, and the prefix of its value.
	requestID() (header, prefix string)
}

func apiOf(d Dialect) api {
	switch d {
	case Anthropic:
		return anthropicAPI{}
	case Generic:
		return genericAPI{}
	default:
		return openAIAPI{}
	}
}
