// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"encoding/json"
	"strconv"
	"strings"
)

var (
	invokeOperation = operation{
		name: "invoke", decode: decodeInvoke, valid: validInvoke, answer: invokeAnswer,
	}
	invokeStreamOperation = operation{
		name: "invoke", decode: decodeInvoke, valid: validInvoke, answer: invokeAnswer, stream: invokeStream,
		framing: func(*call) framing { return awsStream{} },
	}
)

// decodeInvoke reads the bounds of output as each maker of models names them.
func decodeInvoke(body []byte, r *request) error {
	var doc struct {
		MaxGenLen *int64 `json:"max_gen_len"`
		Config    struct {
			MaxTokens *int64 `json:"maxTokens"`
		} `json:"inferenceConfig"`
		Titan struct {
			MaxTokens *int64 `json:"maxTokenCount"`
		} `json:"textGenerationConfig"`
	}
	err := json.Unmarshal(body, &doc)
	for _, v := range []*int64{doc.MaxGenLen, doc.Config.MaxTokens, doc.Titan.MaxTokens} {
		if v != nil {
			r.MaxTokens = v
		}
	}
	return err
}

// maker is who made a model; its body is that maker's own.
func maker(model string) string {
	for _, name := range []string{"anthropic", "nova", "embed", "titan"} {
		if strings.Contains(model, name) {
			return name
		}
	}
	return "meta"
}

func validInvoke(r *request) string {
	switch maker(r.Model) {
	case "anthropic":
		if r.MaxTokens == nil {
			return "max_tokens: Field required"
		}
		return validConverse(r)
	case "nova":
		return validConverse(r)
	case "embed":
		r.MaxOutputTokens = new(int64)
	}
	if len(r.InputText) == 0 && len(r.Prompt) == 0 && len(r.Texts) == 0 {
		return "Malformed input request: #: required key [prompt] not found, please reformat your input and try again."
	}
	return ""
}

// invokeAnswer is the model's own document; the service adds its usage in headers.
func invokeAnswer(c *call) any {
	h, s := c.w.Header(), c.size
	for name, v := range map[string]int64{
		"Input-Token-Count": s.input, "Output-Token-Count": s.output,
		"Cache-Read-Input-Token-Count": s.cached, "Cache-Write-Input-Token-Count": s.cacheWrite,
		"Invocation-Latency": c.converseMetrics().LatencyMs,
	} {
		h.Set("X-Amzn-Bedrock-"+name, strconv.FormatInt(v, 10))
	}
	switch maker(c.req.Model) {
	case "anthropic":
		return messageAnswer(c)
	case "nova":
		return converseAnswer(c)
	case "embed":
		return titanEmbedding{unitVector(1_024, ""), s.input}
	case "titan":
		return titanText{s.input, []titanResult{{s.output, c.text(), c.finishReason("FINISH", "LENGTH")}}}
	}
	return metaText{c.text(), s.input, s.output, pointer(c.finishReason("stop", "length")), nil}
}

type titanEmbedding struct {
	Embedding any   `json:"embedding"`
	Input     int64 `json:"inputTextTokenCount"`
}

type titanText struct {
	Input   int64         `json:"inputTextTokenCount"`
	Results []titanResult `json:"results"`
}

type titanResult struct {
	Tokens int64  `json:"tokenCount"`
	Text   string `json:"outputText"`
	Reason string `json:"completionReason"`
}

type metaText struct {
	Generation string             `json:"generation"`
	Prompt     int64              `json:"prompt_token_count,omitempty"`
	Tokens     int64              `json:"generation_token_count"`
	StopReason *string            `json:"stop_reason"`
	Metrics    *invocationMetrics `json:"amazon-bedrock-invocationMetrics,omitempty"`
}

func pointer[T any](v T) *T { return &v }

// chunk is an event of the model's own, wrapped by the service.
type chunk struct {
	Bytes   []byte `json:"bytes"`
	Padding string `json:"p"`
}

// invocationMetrics is what the service adds to the model's last event.
type invocationMetrics struct {
	Input      int64 `json:"inputTokenCount"`
	Output     int64 `json:"outputTokenCount"`
	Latency    int64 `json:"invocationLatency"`
	FirstByte  int64 `json:"firstByteLatency"`
	CacheRead  int64 `json:"cacheReadInputTokenCount"`
	CacheWrite int64 `json:"cacheWriteInputTokenCount"`
}

func (c *call) invocationMetrics() *invocationMetrics {
	latency := c.converseMetrics().LatencyMs
	return &invocationMetrics{c.size.input, c.size.output, latency, latency, c.size.cached, c.size.cacheWrite}
}

// invokeStream wraps the model's own stream.
func invokeStream(c *call) events {
	inner := metaStream
	switch maker(c.req.Model) {
	case "anthropic":
		inner = messageStream
	case "nova":
		inner = novaStream
	}
	return func(yield func(event) bool) {
		for e := range inner(c) {
			if end, last := e.data.(typeOnly); last && end.Type == "message_stop" {
				e.data = struct {
					typeOnly
					Metrics *invocationMetrics `json:"amazon-bedrock-invocationMetrics"`
				}{end, c.invocationMetrics()}
			}
			e.data, e.name = chunk{e.encoded(), padding}, "chunk"
			if !yield(e) {
				return
			}
		}
	}
}

func metaStream(c *call) events {
	return func(yield func(event) bool) {
		made := int64(0)
		for text, n := range c.pieces() {
			made += n
			if !yield(event{data: metaText{Generation: text, Tokens: made}, tokens: n, content: true}) {
				return
			}
		}
		yield(event{data: metaText{
			Tokens: made, StopReason: pointer(c.finishReason("stop", "length")), Metrics: c.invocationMetrics(),
		}})
	}
}

// novaStream names each event by the key it is under.
func novaStream(c *call) events {
	return func(yield func(event) bool) {
		for e := range converseStream(c) {
			doc := map[string]any{e.name: e.data}
			if e.name == "metadata" {
				doc["amazon-bedrock-invocationMetrics"] = c.invocationMetrics()
			}
			e.data = doc
			if !yield(e) {
				return
			}
		}
	}
}
