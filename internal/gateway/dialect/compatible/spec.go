// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package compatible

import (
	"net/http"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/failure"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/openai"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/request"
)

// Spec is what sets a provider apart from OpenAI.
type Spec struct {
	// Name is the dialect's name in the facts.
	Name string
	// Version is what the API's paths begin with, such as /openai/v1; "" leaves paths as the app wrote them.
	Version string
	// Beside are first segments of paths that lie beside the version, not below it.
	Beside []string
	// Buckets are the headers of the provider's buckets; nil for one that sends none.
	Buckets []guidance.Triple
	// Classify gives a failure its class; nil goes by the status alone.
	Classify func(f Failed) dialect.Class
	// Hint reads the wait that a body gives; nil looks for "try again in" and "retry after" in its message.
	Hint func(f Failed, reference time.Time) (wait time.Duration, ok bool)
	// Budget is the budget a refusal names; nil knows none.
	Budget func(f Failed) string
	// Complete adds to a reading what only the whole response tells; nil adds nothing.
	Complete func(f Failed, r *dialect.Reading)
	// NoUsageOption: the provider does not take stream_options, since its streams report usage by themselves.
	NoUsageOption bool
	// Costs are what parts that are not text cost; the zero value is OpenAI's.
	Costs request.Costs
}

// Failed is a response that is not a success, or an error inside a stream, which has a status that the same
// error would have had as a response, and no headers.
type Failed struct {
	Status   int
	Header   http.Header
	Document failure.Document
	InStream bool
}

func (s Spec) classify(f Failed) dialect.Class {
	if s.Classify == nil {
		return failure.ByStatus(f.Status)
	}
	return s.Classify(f)
}

func (s Spec) hint(f Failed, reference time.Time) (time.Duration, bool) {
	if s.Hint == nil {
		return guidance.Hint(f.Document.Message, "try again in ", "retry after ")
	}
	return s.Hint(f, reference)
}

func (s Spec) budget(f Failed) string {
	if s.Budget == nil {
		return ""
	}
	return s.Budget(f)
}

func (s Spec) costs() request.Costs {
	if s.Costs == (request.Costs{}) {
		return openai.Costs
	}
	return s.Costs
}
