// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

var chatOperation = operation{
	name: "chat", valid: validMessages, answer: chatAnswer, stream: chatStream,
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
	ServiceTier       string       `json:"service_tier,omitempty"`
	SystemFingerprint string       `json:"system_fingerprint,omitempty"`
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
	// Some say the two parts of the prompt in fields of their own.
	CacheHit  *int64 `json:"prompt_cache_hit_tokens,omitempty"`
	CacheMiss *int64 `json:"prompt_cache_miss_tokens,omitempty"`
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

func (c *call) openAIUsage() *openAIUsage { return c.usageAfter(c.output()) }

// usageAfter is the usage once so much output was produced.
func (c *call) usageAfter(output int64) *openAIUsage {
	u := &openAIUsage{
		PromptTokens: c.size.input, CompletionTokens: output, TotalTokens: c.size.input + output,
		PromptDetails:       promptDetails{CachedTokens: min(c.size.cached, c.size.input)},
		CompletionDetailsOf: completionDetails{ReasoningTokens: c.reasoning()},
	}
	if c.p.style.reasoningOutside {
		u.CompletionTokens -= min(output, c.reasoning())
	}
	if c.p.style.cacheHits {
		u.CacheHit = pointer(u.PromptDetails.CachedTokens)
		u.CacheMiss = pointer(u.PromptTokens - *u.CacheHit)
	}
	return u
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
		Usage: c.openAIUsage(),
	}
	doc.ServiceTier, doc.SystemFingerprint = c.tierAndFingerprint()
	for i := range c.req.answers() {
		doc.Choices = append(doc.Choices, chatChoice{
			Index:        i,
			Message:      chatMessage{Role: "assistant", Content: c.text(), Annotations: []any{}},
			FinishReason: c.finishReason("stop", "length"),
		})
	}
	return doc
}

// tierAndFingerprint are "" with providers that say neither.
func (c *call) tierAndFingerprint() (tier, fingerprint string) {
	if c.p.style.plain {
		return "", ""
	}
	return "default", "fp_fake"
}

type chatChunk struct {
	ID                string        `json:"id"`
	Object            string        `json:"object"`
	Created           int64         `json:"created"`
	Model             string        `json:"model"`
	ServiceTier       string        `json:"service_tier,omitempty"`
	SystemFingerprint string        `json:"system_fingerprint,omitempty"`
	Choices           []chunkChoice `json:"choices"`
	// Usage is absent unless asked for; then it is null but in the last chunk.
	Usage any    `json:"usage,omitempty"`
	XGroq *xGroq `json:"x_groq,omitempty"`
}

// xGroq is what Groq adds to the first and the last chunk.
type xGroq struct {
	ID    string       `json:"id"`
	Usage *openAIUsage `json:"usage,omitempty"`
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
		Choices: choices,
	}
	chunk.ServiceTier, chunk.SystemFingerprint = c.tierAndFingerprint()
	if c.usageChunk() {
		chunk.Usage = null{}
	}
	return chunk
}

// usageChunk: usage comes in a chunk of its own.
func (c *call) usageChunk() bool {
	return c.p.style.usage == usageOwn || c.p.style.usage == usageAsked && c.req.wantsUsage()
}

func chatStream(c *call) events {
	return func(yield func(event) bool) {
		if c.chatBegin(yield) && c.chatContent(yield) {
			c.chatEnd(yield)
		}
	}
}

func (c *call) chatBegin(yield func(event) bool) bool {
	if c.p.style.comment != "" && !yield(event{comment: c.p.style.comment, preamble: true}) {
		return false
	}
	if c.p.style.promptFilter && !yield(event{data: promptFilter{Choices: []chunkChoice{}, Results: unfiltered}, preamble: true}) {
		return false
	}
	for i := range c.req.answers() {
		first := c.chatChunk(chunkChoice{Index: i, Delta: firstDelta{Role: "assistant"}})
		if c.p.style.xGroq {
			first.XGroq = &xGroq{ID: c.id}
		}
		if !yield(event{data: first, preamble: true}) {
			return false
		}
	}
	return true
}

func (c *call) chatContent(yield func(event) bool) bool {
	made := int64(0)
	for i := range c.req.answers() {
		for text, n := range c.pieces() {
			made += n
			piece := c.chatChunk(chunkChoice{Index: i, Delta: delta{text}})
			if c.p.style.usage == usageEach {
				piece.Usage = c.usageAfter(made)
			}
			if !yield(event{data: piece, tokens: n, content: true}) {
				return false
			}
		}
	}
	return true
}

// chatEnd sends the finish reasons, the usage if it has a chunk of its own, and [DONE].
func (c *call) chatEnd(yield func(event) bool) {
	reason := c.finishReason("stop", "length")
	for i := range c.req.answers() {
		chunk := c.chatChunk(chunkChoice{Index: i, Delta: struct{}{}, FinishReason: &reason})
		if c.p.style.usage == usageLast || c.p.style.usage == usageEach {
			chunk.Usage = c.openAIUsage()
		}
		if c.p.style.xGroq {
			chunk.XGroq = &xGroq{c.id, c.openAIUsage()}
		}
		if !yield(event{data: chunk}) {
			return
		}
	}
	if c.usageChunk() {
		last := c.chatChunk()
		last.Choices, last.Usage = []chunkChoice{}, c.openAIUsage()
		if !yield(event{data: last}) {
			return
		}
	}
	yield(event{data: []byte("[DONE]")})
}
