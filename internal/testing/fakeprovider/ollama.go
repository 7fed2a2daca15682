// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"encoding/json"
	"net/http"
	"time"
)

const ollamaBusy = "server busy, please try again.  maximum pending requests exceeded"

// ollamaAPI: a queue that is full is all that is refused.
var ollamaAPI = ownAPI{
	flavour{
		shape: func(_ *call, p problem) any { return plainError{p.message} },
		throttled: func(*call, throttled) problem {
			return problem{status: http.StatusServiceUnavailable, message: ollamaBusy}
		},
		spent: always(problem{status: http.StatusPaymentRequired, message: "you've reached your usage limit, please upgrade"}),
		busy:  problem{status: http.StatusServiceUnavailable, message: ollamaBusy},
	},
	plainError{"an error was encountered while running the model"},
}

var (
	ollamaChatOperation = operation{
		name: "chat", api: ollamaAPI, decode: decodeOllama, valid: validOllama, answer: ollamaAnswer, stream: ollamaStream,
		framing: func(*call) framing { return ndjson{} },
	}
	ollamaGenerateOperation = operation{
		name: "generate", api: ollamaAPI, decode: decodeOllama, valid: validOllama, answer: ollamaAnswer,
		stream: ollamaStream, framing: func(*call) framing { return ndjson{} },
	}
	ollamaEmbedOperation = operation{
		name: "embeddings", api: ollamaAPI, valid: validInput, answer: ollamaEmbedAnswer,
	}
	ollamaTags = operation{name: "models", api: ollamaAPI, free: true, answer: func(*call) any {
		return map[string]any{"models": []any{map[string]string{"name": "llama3.2:latest", "model": "llama3.2:latest"}}}
	}}
)

// decodeOllama reads how much may be answered.
func decodeOllama(body []byte, r *request) error {
	var doc struct {
		Options struct {
			NumPredict *int64 `json:"num_predict"`
		} `json:"options"`
	}
	err := json.Unmarshal(body, &doc)
	r.MaxTokens = doc.Options.NumPredict
	return err
}

func validOllama(r *request) string {
	if r.Model == "" {
		return "model is required"
	}
	return ""
}

type ollamaAnswered struct {
	Model      string         `json:"model"`
	CreatedAt  string         `json:"created_at"`
	Message    *ollamaMessage `json:"message,omitempty"`
	Response   *string        `json:"response,omitempty"`
	Done       bool           `json:"done"`
	DoneReason string         `json:"done_reason,omitempty"`
	ollamaFigures
}

type ollamaMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// ollamaFigures are in the last document; times are in nanoseconds.
type ollamaFigures struct {
	TotalDuration      int64 `json:"total_duration,omitempty"`
	LoadDuration       int64 `json:"load_duration,omitempty"`
	PromptEvalCount    int64 `json:"prompt_eval_count,omitempty"`
	PromptEvalDuration int64 `json:"prompt_eval_duration,omitempty"`
	EvalCount          int64 `json:"eval_count,omitempty"`
	EvalDuration       int64 `json:"eval_duration,omitempty"`
}

func (c *call) ollama(text string) ollamaAnswered {
	doc := ollamaAnswered{Model: c.req.Model, CreatedAt: c.s.opts.Now().UTC().Format(time.RFC3339Nano)}
	if c.op.name == "generate" {
		doc.Response = &text
	} else {
		doc.Message = &ollamaMessage{"assistant", text}
	}
	return doc
}

// ollamaDone is the last document, or the only one.
func (c *call) ollamaDone(text string) ollamaAnswered {
	doc := c.ollama(text)
	doc.Done, doc.DoneReason = true, c.finishReason("stop", "length")
	took := c.s.opts.Now().Sub(c.started).Nanoseconds() + 1
	doc.ollamaFigures = ollamaFigures{took, 1, c.size.input, 1, c.size.output, took}
	return doc
}

func ollamaEmbedAnswer(c *call) any {
	vectors := make([]any, inputs(c.req.Input))
	for i := range vectors {
		vectors[i] = c.vector(768)
	}
	return map[string]any{"model": c.req.Model, "embeddings": vectors, "prompt_eval_count": c.size.input}
}

func ollamaStream(c *call) events {
	return func(yield func(event) bool) {
		for text, n := range c.pieces() {
			if !yield(event{data: c.ollama(text), tokens: n, content: true}) {
				return
			}
		}
		yield(event{data: c.ollamaDone("")})
	}
}

func ollamaAnswer(c *call) any { return c.ollamaDone(c.text()) }
