// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import "encoding/json"

var (
	converseOperation = operation{
		name: "converse", decode: decodeConverse, valid: validConverse, answer: converseAnswer,
	}
	converseStreamOperation = operation{
		name: "converse", decode: decodeConverse, valid: validConverse, answer: converseAnswer, stream: converseStream,
		framing: func(*call) framing { return awsStream{} },
	}
)

// decodeConverse reads how much may be answered.
func decodeConverse(body []byte, r *request) error {
	var doc struct {
		Config struct {
			MaxTokens *int64 `json:"maxTokens"`
		} `json:"inferenceConfig"`
	}
	err := json.Unmarshal(body, &doc)
	r.MaxTokens = doc.Config.MaxTokens
	return err
}

func validConverse(r *request) string {
	if len(r.Messages) == 0 {
		return "The model returned the following errors: messages: Field required"
	}
	return ""
}

type converse struct {
	Metrics    converseMetrics `json:"metrics"`
	Output     converseOutput  `json:"output"`
	StopReason string          `json:"stopReason"`
	Usage      bedrockUsage    `json:"usage"`
}

type converseMetrics struct {
	LatencyMs int64 `json:"latencyMs"`
}

type converseOutput struct {
	Message converseMessage `json:"message"`
}

type converseMessage struct {
	Content []converseText `json:"content"`
	Role    string         `json:"role"`
}

type converseText struct {
	Text string `json:"text"`
}

type bedrockUsage struct {
	CacheRead  int64 `json:"cacheReadInputTokens"`
	CacheWrite int64 `json:"cacheWriteInputTokens"`
	Input      int64 `json:"inputTokens"`
	Output     int64 `json:"outputTokens"`
	Total      int64 `json:"totalTokens"`
}

func (c *call) bedrockUsage() bedrockUsage {
	s := c.size
	return bedrockUsage{s.cached, s.cacheWrite, s.input, s.output, s.input + s.output + s.cached + s.cacheWrite}
}

func (c *call) converseMetrics() converseMetrics {
	return converseMetrics{c.s.opts.Now().Sub(c.started).Milliseconds()}
}

func converseAnswer(c *call) any {
	return converse{
		Metrics:    c.converseMetrics(),
		Output:     converseOutput{converseMessage{[]converseText{{c.text()}}, "assistant"}},
		StopReason: c.finishReason("end_turn", "max_tokens"), Usage: c.bedrockUsage(),
	}
}

// Events of a stream carry padding, so that their length does not tell what they say.
type converseStart struct {
	Padding string `json:"p"`
	Role    string `json:"role"`
}

type converseDelta struct {
	Index   int          `json:"contentBlockIndex"`
	Delta   converseText `json:"delta"`
	Padding string       `json:"p"`
}

type converseBlockStop struct {
	Index   int    `json:"contentBlockIndex"`
	Padding string `json:"p"`
}

type converseStop struct {
	Padding    string `json:"p"`
	StopReason string `json:"stopReason"`
}

type converseMetadata struct {
	Metrics converseMetrics `json:"metrics"`
	Padding string          `json:"p"`
	Usage   bedrockUsage    `json:"usage"`
}

const padding = "abcdefghijklm"

// converseStream: usage comes in the last event.
func converseStream(c *call) events {
	return func(yield func(event) bool) {
		if !yield(event{name: "messageStart", data: converseStart{padding, "assistant"}, preamble: true}) {
			return
		}
		for text, n := range c.pieces() {
			piece := converseDelta{0, converseText{text}, padding}
			if !yield(event{name: "contentBlockDelta", data: piece, tokens: n, content: true}) {
				return
			}
		}
		stop := converseStop{padding, c.finishReason("end_turn", "max_tokens")}
		_ = yield(event{name: "contentBlockStop", data: converseBlockStop{0, padding}}) &&
			yield(event{name: "messageStop", data: stop}) &&
			yield(event{name: "metadata", data: converseMetadata{c.converseMetrics(), padding, c.bedrockUsage()}})
	}
}
