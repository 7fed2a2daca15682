// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"errors"
	"time"
)

// Port is where an app listens for its driver.
const Port = 8090

// Run is a load to make.
type Run struct {
	// Name is repeated in the result.
	Name string `json:"name"`
	// StartUnixMillis lets several apps start together; at once if it is past.
	StartUnixMillis int64 `json:"startUnixMillis,omitempty"`
	Seconds         int64 `json:"seconds"`
	CallsPerMinute  int64 `json:"callsPerMinute"`
	// InputTokens of text in each call, and the most output it allows.
	InputTokens  int64 `json:"inputTokens"`
	OutputTokens int64 `json:"outputTokens"`
	// OpenAIPercent of the calls go through the OpenAI SDK, the rest through Anthropic's.
	OpenAIPercent int64 `json:"openAIPercent,omitempty"`
	// StreamPercent of the calls are streamed.
	StreamPercent int64 `json:"streamPercent,omitempty"`
	// MaxConcurrent bounds calls in flight; what would exceed it is counted as Skipped.
	MaxConcurrent int64 `json:"maxConcurrent,omitempty"`
	// DrainSeconds is how long calls in flight may still take once no new ones start.
	DrainSeconds int64 `json:"drainSeconds,omitempty"`
}

// Bounds of a run.
const (
	maxSeconds        = 3_600
	maxCallsPerMinute = 600_000
	maxInputTokens    = 1_000_000
	maxConcurrent     = 10_000
	// maxCalls bounds how many calls' times are kept.
	maxCalls = 500_000
)

// Complete fills in what is absent.
func (r Run) Complete() Run {
	r.InputTokens = orDefault(r.InputTokens, 2_000)
	r.OutputTokens = orDefault(r.OutputTokens, 16)
	r.MaxConcurrent = orDefault(r.MaxConcurrent, 1_000)
	r.DrainSeconds = orDefault(r.DrainSeconds, 90)
	return r
}

func orDefault(v, def int64) int64 {
	if v == 0 {
		return def
	}
	return v
}

// Validate refuses a load that cannot be made.
func (r Run) Validate() error {
	for _, bad := range []struct {
		when bool
		why  string
	}{
		{r.Seconds < 1 || r.Seconds > maxSeconds, "seconds is not between 1 and 3,600"},
		{r.CallsPerMinute < 1 || r.CallsPerMinute > maxCallsPerMinute, "callsPerMinute is not between 1 and 600,000"},
		{r.CallsPerMinute*r.Seconds/60 > maxCalls, "more than 500,000 calls"},
		{r.InputTokens < 1 || r.InputTokens > maxInputTokens, "inputTokens is not between 1 and 1,000,000"},
		{r.OutputTokens < 1, "outputTokens is below 1"},
		{percent(r.OpenAIPercent), "openAIPercent is not between 0 and 100"},
		{percent(r.StreamPercent), "streamPercent is not between 0 and 100"},
		{r.MaxConcurrent < 1 || r.MaxConcurrent > maxConcurrent, "maxConcurrent is not between 1 and 10,000"},
		{r.DrainSeconds < 1 || r.DrainSeconds > maxSeconds, "drainSeconds is not between 1 and 3,600"},
	} {
		if bad.when {
			return errors.New("load: " + bad.why)
		}
	}
	return nil
}

func percent(v int64) bool { return v < 0 || v > 100 }

// Length is how long new calls are started.
func (r Run) Length() time.Duration { return time.Duration(r.Seconds) * time.Second }

// State is where an app is with its run.
type State string

// The states.
const (
	Idle    State = "idle"
	Running State = "running"
	Done    State = "done"
)

// Result is what became of a load.
type Result struct {
	State State  `json:"state"`
	Role  string `json:"role"`
	Name  string `json:"name,omitempty"`
	// Calls started, that ended well, and that did not, by kind.
	Calls  int64            `json:"calls"`
	OK     int64            `json:"ok"`
	Failed map[string]int64 `json:"failed,omitempty"`
	// Skipped would have exceeded MaxConcurrent, and were not started.
	Skipped  int64 `json:"skipped,omitempty"`
	InFlight int64 `json:"inFlight"`
	// TokensOK are the input tokens of the calls that ended well.
	TokensOK int64 `json:"tokensOK"`
	// WaitsMillis are, for each call that ended well, its time less the provider's own, in order.
	WaitsMillis []float64 `json:"waitsMillis,omitempty"`
	// DeclinedMillis are the times of the calls that Headgate declined, in order.
	DeclinedMillis []float64 `json:"declinedMillis,omitempty"`
	// Failures are the first MaxFailures of the calls that failed, as they ended.
	Failures          []Failure `json:"failures,omitempty"`
	StartedUnixMillis int64     `json:"startedUnixMillis,omitempty"`
	EndedUnixMillis   int64     `json:"endedUnixMillis,omitempty"`
}

// MaxFailures bounds how many failures a result tells one by one.
const MaxFailures = 1_000

// Failure is one call that failed.
type Failure struct {
	Kind string `json:"kind"`
	// Message is the SDK's.
	Message           string `json:"message"`
	StartedUnixMillis int64  `json:"startedUnixMillis"`
	EndedUnixMillis   int64  `json:"endedUnixMillis"`
}

// Kinds of failure.
const (
	// Declined: Headgate said no, by policy, without troubling the provider.
	Declined = "declined by policy"
	// Throttled: the provider's 429, after all the SDK's retries.
	Throttled  = "provider 429"
	Overloaded = "overloaded"
	TimedOut   = "timed out"
	Connection = "no connection"
	// Corrupt: it ended without an error, and is not the provider's answer to the last byte.
	Corrupt = "not the provider's answer"
	Other   = "other"
)
