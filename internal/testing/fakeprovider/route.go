// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"net/http"
	"regexp"
	"strings"
)

// operation is what a call asks for, and how it is answered.
type operation struct {
	name string
	// free operations cost nothing.
	free bool
	// decode reads the body into the request where its fields are not simply named alike; may be nil.
	decode func(body []byte, r *request) error
	// valid says what is wrong with a request, "" if nothing is; nil where there is no JSON body to read.
	valid func(*request) string
	// answer is the JSON document.
	answer func(*call) any
	// stream is the events, nil where the operation has none.
	stream func(*call) events
	// api is what is said around its answers where that is not as with its provider's others.
	api api
	// framing is how a call's events go over the wire; server-sent events if nil.
	framing func(*call) framing
}

// target is what a path asks for.
type target struct {
	op *operation
	// model is what the path names; "" where the body does.
	model string
	// stream: the path asks for one; streamByDefault: the body must say so if none is wanted.
	stream          bool
	streamByDefault bool
}

// apply completes a request by what the path said.
func (t target) apply(r *request) {
	if t.model != "" {
		r.Model = t.model
	}
	r.Stream = r.Stream || t.stream
}

// route is a line of a provider's table of paths. The pattern may name a model, and matches whole paths
// without a trailing slash.
type route struct {
	method  string
	pattern *regexp.Regexp
	target  target
}

func get(pattern string, op *operation) route {
	return route{http.MethodGet, whole(pattern), target{op: op}}
}

func post(pattern string, op *operation) route {
	return route{http.MethodPost, whole(pattern), target{op: op}}
}

// streamed is a post whose path asks for a stream.
func streamed(pattern string, op *operation) route {
	return route{http.MethodPost, whole(pattern), target{op: op, stream: true}}
}

func whole(pattern string) *regexp.Regexp { return regexp.MustCompile("^(?:" + pattern + ")$") }

// routes makes the function that finds a path's target in a table.
func routes(table ...route) func(method, path string) target {
	return func(method, path string) target {
		for _, line := range table {
			if line.method != method {
				continue
			}
			if m := line.pattern.FindStringSubmatch(path); m != nil {
				t := line.target
				if i := line.pattern.SubexpIndex("model"); i > 0 {
					t.model = m[i]
				}
				return t
			}
		}
		return target{}
	}
}

// prefixed makes the function that finds the operations of OpenAI's API below the prefixes.
func prefixed(prefixes ...string) func(method, path string) target {
	return func(method, path string) target {
		for _, prefix := range prefixes {
			rest, ok := strings.CutPrefix(path, prefix+"/")
			if !ok {
				continue
			}
			if t := openAIOperation(method, rest); t.op != nil {
				return t
			}
		}
		return target{}
	}
}

// openAIOperation finds an operation by its path below the version.
func openAIOperation(method, rest string) target {
	if method == http.MethodPost {
		return target{op: openAIOperations[rest]}
	}
	if model, ok := strings.CutPrefix(rest+"/", "models/"); ok && method == http.MethodGet {
		return target{op: &openAIModels, model: strings.TrimSuffix(model, "/")}
	}
	return target{}
}

var openAIOperations = map[string]*operation{
	"chat/completions": &chatOperation,
	"responses":        &responsesOperation,
	"embeddings":       &embeddingsOperation,
	"completions":      &completionsOperation,
}

// api is what a provider says around an answer.
type api interface {
	// limitHeaders writes what the account's budgets are.
	limitHeaders(h http.Header, c *call, budgets []level)
	// throttle is the status and body of a refusal for lack of budget.
	throttle(c *call, t throttled) (int, any)
	// fault is the status and body of any other failure, which OpenAI would give this status.
	fault(c *call, status int, message string) (int, any)
	// quota is the status and body once the account's money is spent.
	quota(c *call) (int, any)
	// overload is the status and body of a provider that is short of capacity.
	overload(c *call) (int, any)
	// streamError are the events of a failure inside a 200 stream.
	streamError(c *call) []event
	// requestID is the header that names the request, "" for none, and the request's id.
	requestID(number uint64) (header, id string)
}
