// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

var chatOperation = operation{
	name: "chat", dialect: OpenAI, valid: validMessages, answer: chatAnswer, stream: chatStream,
}

func validMessages(r *request) string {
	switch {
	case r.Model == "":
		return "you must provide a model parameter"
	case len(r.Messages) == 0:
		return "Missing required parameter: 'messages'."
	}
	return ""
}

type chatCompletion struct {
	ID                string       `json:"id"`
	Object            string       `json:"object"`
	Created           int64        `json:"created"`
	Model             string       `json:"model"`
	Choices           []chatChoice `json:"choices"`
	Usage             *openAIUsage `json:"usage"`
	ServiceTier       string       `json:"service_tier"`
	SystemFingerprint string       `json:"system_fingerprint"`
}

type chatChoice struct {
	Index        int         `json:"index"`
	Message      chatMessage `json:"message"`
	Logprobs     any         `json:"logprobs"`
	FinishReason string      `json:"finish_reason"`
}

type chatMessage struct {
	Role        string  `json:"role"`
	Content     string  `json:"content"`
	Refusal     *string `json:"refusal"`
	Annotations []any   `json:"annotations"`
}

type openAIUsage struct {
	PromptTokens        int64             `json:"prompt_tokens"`
	CompletionTokens    int64             `json:"completion_tokens"`
	TotalTokens         int64             `json:"total_tokens"`
	PromptDetails       promptDetails     `json:"prompt_tokens_details"`
	CompletionDetailsOf completionDetails `json:"completion_tokens_details"`
}

type promptDetails struct {
	CachedTokens int64 `json:"cached_tokens"`
	AudioTokens  int64 `json:"audio_tokens"`
}

type completionDetails struct {
	ReasoningTokens          int64 `json:"reasoning_tokens"`
	AudioTokens              int64 `json:"audio_tokens"`
	AcceptedPredictionTokens int64 `json:"accepted_prediction_tokens"`
	RejectedPredictionTokens int64 `json:"rejected_prediction_tokens"`
}

func (c *call) openAIUsage() *openAIUsage {
	return &openAIUsage{
		PromptTokens: c.size.input, CompletionTokens: c.output(), TotalTokens: c.size.input + c.output(),
		PromptDetails: promptDetails{CachedTokens: min(c.size.cached, c.size.input)},
	}
}

// finishReason: an answer that fills what was allowed was cut off.
func (c *call) finishReason(full, cut string) string {
	if most := c.req.maxOutput(); most >= 0 && c.size.output >= most {
		return cut
	}
	return full
}

func chatAnswer(c *call) any {
	doc := chatCompletion{
		ID: "chatcmpl-" + c.id, Object: "chat.completion", Created: c.started.Unix(), Model: c.req.Model,
		Usage: c.openAIUsage(), ServiceTier: "default", SystemFingerprint: fingerprint,
	}
	for i := range c.req.answers() {
		doc.Choices = append(doc.Choices, chatChoice{
			Index:        i,
			Message:      chatMessage{Role: "assistant", Content: Text(c.size.output), Annotations: []any{}},
			FinishReason: c.finishReason("stop", "length"),
		})
	}
	return doc
}

const fingerprint = "fp_fake"

type chatChunk struct {
	ID                string        `json:"id"`
	Object            string        `json:"object"`
	Created           int64         `json:"created"`
	Model             string        `json:"model"`
	ServiceTier       string        `json:"service_tier"`
	SystemFingerprint string        `json:"system_fingerprint"`
	Choices           []chunkChoice `json:"choices"`
	// Usage is absent unless asked for; then it is null but in the last chunk.
	Usage any `json:"usage,omitempty"`
}

type chunkChoice struct {
	Index        int     `json:"index"`
	Delta        any     `json:"delta"`
	Logprobs     any     `json:"logprobs"`
	FinishReason *string `json:"finish_reason"`
}

type firstDelta struct {
	Role    string  `json:"role"`
	Content string  `json:"content"`
	Refusal *string `json:"refusal"`
}

type delta struct {
	Content string `json:"content"`
}

// null encodes as null where omitempty would leave an absent value out.
type null struct{}

// MarshalJSON implements json.Marshaler.
func (null) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

func (c *call) chatChunk(choices ...chunkChoice) chatChunk {
	chunk := chatChunk{
		ID: "chatcmpl-" + c.id, Object: "chat.completion.chunk", Created: c.started.Unix(), Model: c.req.Model,
		ServiceTier: "default", SystemFingerprint: fingerprint, Choices: choices,
	}
	if c.req.wantsUsage() {
		chunk.Usage = null{}
	}
	return chunk
}

func chatStream(c *call) events {
	return func(yield func(event) bool) {
		for i := range c.req.answers() {
			first := c.chatChunk(chunkChoice{Index: i, Delta: firstDelta{Role: "assistant"}})
			if !yield(event{data: first, preamble: true}) {
				return
			}
		}
		for i := range c.req.answers() {
			for at, n := range chunks(c.size.output) {
				piece := c.chatChunk(chunkChoice{Index: i, Delta: delta{words(at, n)}})
				if !yield(event{data: piece, tokens: n, content: true}) {
					return
				}
			}
		}
		c.chatEnd(yield)
	}
}

// chatEnd sends the finish reasons, the usage if it was asked for, and [DONE].
func (c *call) chatEnd(yield func(event) bool) {
	reason := c.finishReason("stop", "length")
	for i := range c.req.answers() {
		if !yield(event{data: c.chatChunk(chunkChoice{Index: i, Delta: struct{}{}, FinishReason: &reason})}) {
			return
		}
	}
	if c.req.wantsUsage() {
		last := c.chatChunk()
		last.Choices, last.Usage = []chunkChoice{}, c.openAIUsage()
		if !yield(event{data: last}) {
			return
		}
	}
	yield(event{data: []byte("[DONE]")})
}
