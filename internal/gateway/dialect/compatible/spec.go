// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package compatible

import (
	"net/http"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/openai"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/request"
)

// Spec is what sets a provider apart from OpenAI. What it leaves out is as with OpenAI.
type Spec struct {
	// Name is the dialect's name in the facts.
	Name string

	// Version is what the API's paths begin with, such as /openai/v1; Beside are first segments of paths that lie
	// beside it, not below it.
	Version string
	Beside  []string
	// Path is for an API whose paths do not all begin alike: it takes the place of Version and Beside. Below is
	// what lies below the API's beginning in a path that Path returned ("chat/completions"), and the model that
	// the path names, if it does.
	Path  func(path string) string
	Below func(path string) (rest, model string)
	// Operations are those that OpenAI does not have, by what lies below the API's beginning.
	Operations map[string]dialect.Operation

	// Buckets are the headers of the provider's buckets; nil for one that sends none.
	Buckets []guidance.Triple
	// Headers adds to a reading what a table cannot say.
	Headers func(status int, h http.Header, r *dialect.Reading)
	// Complete adds to the reading of a failure what only the whole response tells, and to the failure what is not
	// in its body.
	Complete func(f *Failed, r *dialect.Reading)
	// Classify gives a failure its class; nil goes by OpenAI's codes, then by the status.
	Classify func(f Failed) dialect.Class
	// Hint reads the wait that a body gives; nil looks for the usual words in its message.
	Hint func(f Failed, reference time.Time) (wait time.Duration, ok bool)
	// Budget is the budget a refusal names; nil looks for the usual words.
	Budget func(f Failed) string

	// NoUsageOption: the provider does not take stream_options, since its streams report usage by themselves.
	NoUsageOption bool
	// Costs are what parts that are not text cost.
	Costs request.Costs
}

// The operations of providers that serve Anthropic's API beside OpenAI's.
var (
	Messages    = dialect.Operation{Name: "messages", Format: dialect.FormatMessages, Metered: true}
	CountTokens = dialect.Operation{Name: "other", Free: true}
)

// Anthropic is where they are.
var Anthropic = map[string]dialect.Operation{"messages": Messages, "messages/count_tokens": CountTokens}

// Bucket is a bucket under the header names that OpenAI began with: x-ratelimit-limit-SUFFIX and its like. suffix
// has the canonical form of a header's name.
func Bucket(budget, bucket, suffix string, window time.Duration) guidance.Triple {
	return guidance.Triple{
		Budget: budget, Bucket: bucket, Window: window, Limit: "X-Ratelimit-Limit-" + suffix,
		Remaining: "X-Ratelimit-Remaining-" + suffix, Reset: "X-Ratelimit-Reset-" + suffix,
	}
}

// The windows that Go has no name for. A month is as long as the shorter usual ones, so that a rate derived from
// it is rather too high than too low: what it really is, the provider's refusal says.
const (
	Day   = 24 * time.Hour
	Month = 30 * Day
)

func (s Spec) classify(f Failed) dialect.Class {
	if s.Classify == nil {
		return openai.Classify(f.Status, f.Document)
	}
	return s.Classify(f)
}

func (s Spec) hint(f Failed, reference time.Time) (time.Duration, bool) {
	if s.Hint == nil {
		return f.Document.Advice()
	}
	return s.Hint(f, reference)
}

func (s Spec) budget(f Failed) string {
	if s.Budget == nil {
		return Budget(f)
	}
	return s.Budget(f)
}

func (s Spec) costs() request.Costs {
	if s.Costs == (request.Costs{}) {
		return openai.Costs
	}
	return s.Costs
}
