// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package load

// Call is a single call to make; what is absent is as in a Run.
type Call struct {
	InputTokens  int64 `json:"inputTokens,omitempty"`
	OutputTokens int64 `json:"outputTokens,omitempty"`
	// OpenAI chooses the OpenAI SDK, Anthropic's otherwise.
	OpenAI bool `json:"openAI,omitempty"`
	Stream bool `json:"stream,omitempty"`
}

// Complete fills in what is absent.
func (c Call) Complete() Call {
	run := Run{InputTokens: c.InputTokens, OutputTokens: c.OutputTokens}.Complete()
	c.InputTokens, c.OutputTokens = run.InputTokens, run.OutputTokens
	return c
}

// Validate refuses a call that cannot be made.
func (c Call) Validate() error {
	return Run{Seconds: 1, CallsPerMinute: 1, InputTokens: c.InputTokens, OutputTokens: c.OutputTokens}.Complete().Validate()
}

// Outcome is what became of a Call.
type Outcome struct {
	OK bool `json:"ok"`
	// Failure is the kind, as in Result.Failed, and Message the SDK's words.
	Failure string  `json:"failure,omitempty"`
	Message string  `json:"message,omitempty"`
	Millis  float64 `json:"millis"`
}
