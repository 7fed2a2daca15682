// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"slices"
	"time"
)

// hints are what an SDK reads of a response to time its retry.
type hints uint8

const (
	hintMillis hints = 1 << iota
	hintSeconds
	hintDate
	hintReset
)

// above says what an SDK does with a wait above its cap.
type above uint8

const (
	// aboveOwn waits its own backoff instead, which is shorter.
	aboveOwn above = iota
	// aboveCut waits the cap.
	aboveCut
	// aboveStop does not retry.
	aboveStop
)

// statuses says which failures an SDK retries.
type statuses uint8

const (
	// usual: 408, 409, 429 and from 500 on.
	usual statuses = iota
	// allButMistakes: all but 400 to 407, 409 and 413.
	allButMistakes
	// serverAndThrottle: 429, 500, 502, 503 and 504.
	serverAndThrottle
)

// sdk is what one client library does by itself with a failed call, as far as its source says. These are facts of
// the versions named; docs/dialects.md lists them too.
type sdk struct {
	name string
	// dialects are those it is used with.
	dialects []string
	// retries beside the first attempt, by default.
	retries  int
	retry    statuses
	reads    hints
	longest  time.Duration // its cap of a stated wait; 0 is none
	beyond   above
	first    time.Duration // its own first backoff; 0 is not known
	from, to float64       // what that is multiplied with at random
	added    time.Duration // what is added to a stated wait at most
	obeys    bool          // x-should-retry
	// weighs: a stated wait says whether it retries a 429, not when; without one, or with a spent quota, it does not.
	weighs bool
	off    string // how its retries are switched off
}

var (
	openAILike = []string{
		"OpenAI", "AzureOpenAI", "Mistral", "Groq", "Cerebras", "Together", "Fireworks", "DeepSeek", "XAI", "Perplexity", "OpenRouter",
		"GitHubModels", "HuggingFace", "SelfHosted", "Generic",
	}
	googleLike   = []string{"Gemini", "VertexAI"}
	anthropicToo = []string{"Anthropic"}
	manyLike     = slices.Concat(openAILike, anthropicToo, googleLike, []string{"Cohere", "Bedrock"})
)

const (
	standard = hintMillis | hintSeconds | hintDate
	half     = 500 * time.Millisecond
)

// sdks lists the libraries, those of one provider first.
var sdks = []sdk{
	{name: "openai-python 3.3", dialects: openAILike, retries: 2, reads: standard, longest: 2 * time.Minute, beyond: aboveStop, first: half, from: 0.75, to: 1, obeys: true, off: "max_retries=0"},
	{name: "openai-node 7.5", dialects: openAILike, retries: 2, reads: standard, longest: time.Minute, first: half, from: 0.75, to: 1, obeys: true, off: "maxRetries: 0"},
	{name: "openai-go v3", dialects: openAILike, retries: 2, reads: standard, longest: 8 * time.Second, beyond: aboveCut, first: half, from: 0.75, to: 1, obeys: true, off: "option.WithMaxRetries(0)"},
	{name: "anthropic-python 0.121", dialects: anthropicToo, retries: 2, reads: standard, longest: time.Minute, first: half, from: 0.75, to: 1, obeys: true, off: "max_retries=0"},
	{name: "anthropic-sdk (npm)", dialects: anthropicToo, retries: 2, reads: standard, first: half, from: 0.75, to: 1, obeys: true, off: "maxRetries: 0"},
	{name: "anthropic-sdk-go", dialects: anthropicToo, retries: 2, reads: standard, first: half, from: 0.75, to: 1, obeys: true, off: "option.WithMaxRetries(0)"},
	{name: "groq-python", dialects: []string{"Groq"}, retries: 2, reads: standard, longest: time.Minute, first: half, from: 0.75, to: 1, obeys: true, off: "max_retries=0"},
	{name: "cerebras-cloud-sdk", dialects: []string{"Cerebras"}, retries: 2, reads: standard, longest: time.Minute, first: half, from: 0.75, to: 1, obeys: true, off: "max_retries=0"},
	{name: "google-genai", dialects: googleLike, off: "leave its retry options unset"},
	{name: "langchain-google-genai", dialects: googleLike, retries: 6, off: "max_retries=1"},
	{name: "mistralai", dialects: []string{"Mistral"}, off: "leave retry_config unset"},
	{name: "cohere", dialects: []string{"Cohere"}, retries: 2, reads: hintSeconds | hintDate | hintReset, longest: time.Minute, beyond: aboveCut, first: time.Second, from: 0.9, to: 1.1, off: "max_retries: 0 in each request"},
	{name: "botocore (legacy mode)", dialects: []string{"Bedrock"}, retries: 4, retry: serverAndThrottle, first: time.Second, from: 0, to: 1, off: "AWS_MAX_ATTEMPTS=1"},
	{name: "aws-sdk-go-v2", dialects: []string{"Bedrock"}, retries: 2, retry: serverAndThrottle, first: time.Second, from: 0, to: 1, off: "aws.NopRetryer"},
	{name: "ai (Vercel)", dialects: manyLike, retries: 2, reads: standard, longest: time.Minute - 1, first: 2 * time.Second, from: 1, to: 1, off: "maxRetries: 0"},
	{name: "@langchain/core", dialects: manyLike, retries: 6, retry: allButMistakes, reads: hintSeconds | hintDate, longest: time.Minute, weighs: true, first: time.Second, from: 1, to: 2, off: "maxRetries: 0"},
	{name: "litellm", dialects: manyLike, retries: 2, reads: hintSeconds | hintDate, longest: time.Minute, first: half, from: 1, to: 1.5, added: 750 * time.Millisecond, off: "num_retries=0, max_retries=0"},
}

func sdksOf(dialect string) (out []sdk) {
	for _, s := range sdks {
		if slices.Contains(s.dialects, dialect) {
			out = append(out, s)
		}
	}
	return out
}

func (s statuses) includes(status int) bool {
	switch s {
	case allButMistakes:
		return status == 408 || status > 409 && status != 413
	case serverAndThrottle:
		return status == 429 || status == 500 || status >= 502 && status <= 504
	case usual:
		return status == 408 || status == 409 || status == 429 || status >= 500
	}
	return false
}

// SDK is what is known of a client library's retries, for documents.
type SDK struct {
	Name string
	// Dialects are those it is used with.
	Dialects []string
	// Retries are those it makes by default, beside the first attempt.
	Retries int
	// Obeys: it does what x-should-retry says.
	Obeys bool
	// Longest is the longest stated wait that it waits, in words.
	Longest string
	// Off is how its retries are switched off.
	Off string
}

// SDKs lists what is known of every SDK.
func SDKs() (out []SDK) {
	for _, s := range sdks {
		out = append(out, SDK{Name: s.name, Dialects: s.dialects, Retries: s.retries, Obeys: s.obeys, Longest: s.longestText(), Off: s.off})
	}
	return out
}

func (s sdk) longestText() string {
	switch {
	case s.retries == 0:
		return "-"
	case s.reads == 0:
		return "none: it reads none"
	case s.longest == 0:
		return "any"
	case s.weighs:
		return "none: up to " + duration(s.longest) + " it retries by its own backoff, above not at all"
	case s.beyond == aboveStop:
		return duration(s.longest) + "; does not retry above"
	case s.beyond == aboveCut:
		return duration(s.longest) + "; cuts longer ones to that"
	}
	return duration(s.longest.Round(time.Second)) + "; retries early above"
}
