// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

var (
	cohereChatOperation = operation{
		name: "chat", valid: validMessages, answer: cohereAnswer, stream: cohereStream,
	}
	cohereEmbedOperation = operation{name: "embeddings", valid: validCohereEmbed, answer: cohereEmbedAnswer}
	rerankOperation      = operation{name: "rerank", valid: validRerank, answer: rerankAnswer}
	cohereModels         = operation{name: "models", free: true, answer: cohereModelsAnswer}
)

func validCohereEmbed(r *request) string {
	switch {
	case r.Model == "":
		return "invalid request: model is required"
	case len(r.Texts) == 0 && len(r.Inputs) == 0:
		return "invalid request: must have at least one of texts, images or inputs"
	}
	r.MaxOutputTokens = new(int64) // embeddings have no output
	return ""
}

func validRerank(r *request) string {
	if r.Model == "" || len(r.Query) == 0 || len(r.Documents) == 0 {
		return "invalid request: model, query and documents are required"
	}
	r.MaxOutputTokens = new(int64) // a ranking has no output
	return ""
}

type cohereMessage struct {
	ID           string         `json:"id"`
	FinishReason string         `json:"finish_reason"`
	Message      cohereContents `json:"message"`
	Usage        cohereUsage    `json:"usage"`
}

type cohereContents struct {
	Role    string      `json:"role"`
	Content []textBlock `json:"content"`
}

type cohereUsage struct {
	Billed cohereTokens `json:"billed_units"`
	Tokens cohereTokens `json:"tokens"`
	Cached int64        `json:"cached_tokens"`
}

type cohereTokens struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
}

// cohereUsage: what is not billed, the provider's own part of the prompt, is in tokens alone.
func (c *call) cohereUsage() cohereUsage {
	const template = 7
	return cohereUsage{
		Billed: cohereTokens{c.size.input, c.size.output}, Tokens: cohereTokens{c.size.input + template, c.size.output},
		Cached: min(c.size.cached, c.size.input),
	}
}

func cohereAnswer(c *call) any {
	return cohereMessage{
		ID: c.id, FinishReason: c.finishReason("COMPLETE", "MAX_TOKENS"), Usage: c.cohereUsage(),
		Message: cohereContents{"assistant", []textBlock{{"text", c.text()}}},
	}
}

type cohereEvent struct {
	ID    string `json:"id,omitempty"`
	Type  string `json:"type"`
	Index *int   `json:"index,omitempty"`
	Delta any    `json:"delta,omitempty"`
}

type cohereEnd struct {
	Error        string       `json:"error,omitempty"`
	FinishReason string       `json:"finish_reason"`
	Usage        *cohereUsage `json:"usage,omitempty"`
}

// object is a JSON object of one field, of which Cohere's events have many in one another.
func object(name string, value any) any { return map[string]any{name: value} }

func cohereStream(c *call) events {
	return func(yield func(event) bool) {
		send := func(e cohereEvent, out event) bool {
			out.name, out.data = e.Type, e
			return yield(out)
		}
		first := object("message", map[string]any{
			"role": "assistant", "content": []any{}, "tool_plan": "", "tool_calls": []any{}, "citations": []any{},
		})
		content := func(v any) any { return object("message", object("content", v)) }
		index := new(int)
		if !send(cohereEvent{ID: c.id, Type: "message-start", Delta: first}, event{preamble: true}) ||
			!send(cohereEvent{Type: "content-start", Index: index, Delta: content(textBlock{Type: "text"})}, event{preamble: true}) {
			return
		}
		for text, n := range c.pieces() {
			piece := cohereEvent{Type: "content-delta", Index: index, Delta: content(object("text", text))}
			if !send(piece, event{tokens: n, content: true}) {
				return
			}
		}
		end := cohereEnd{FinishReason: c.finishReason("COMPLETE", "MAX_TOKENS"), Usage: pointer(c.cohereUsage())}
		_ = send(cohereEvent{Type: "content-end", Index: index}, event{}) &&
			send(cohereEvent{Type: "message-end", Delta: end}, event{})
	}
}

type cohereMeta struct {
	Version map[string]string `json:"api_version"`
	Billed  map[string]int64  `json:"billed_units"`
}

type cohereEmbeddings struct {
	ID         string           `json:"id"`
	Embeddings map[string][]any `json:"embeddings"`
	Meta       cohereMeta       `json:"meta"`
	Type       string           `json:"response_type"`
}

var cohereV2 = map[string]string{"version": "2"}

func cohereEmbedAnswer(c *call) any {
	texts := c.req.Texts
	if len(texts) == 0 {
		texts = c.req.Inputs
	}
	vectors := make([]any, inputs(texts))
	for i := range vectors {
		vectors[i] = c.vector(defaultDimensions)
	}
	return cohereEmbeddings{
		ID: c.id, Embeddings: map[string][]any{"float": vectors}, Type: "embeddings_by_type",
		Meta: cohereMeta{cohereV2, map[string]int64{"input_tokens": c.size.input}},
	}
}

type ranking struct {
	ID      string     `json:"id"`
	Results []ranked   `json:"results"`
	Meta    cohereMeta `json:"meta"`
}

type ranked struct {
	Index int     `json:"index"`
	Score float64 `json:"relevance_score"`
}

func rerankAnswer(c *call) any {
	doc := ranking{ID: c.id, Meta: cohereMeta{cohereV2, map[string]int64{"search_units": 1}}}
	for i := range inputs(c.req.Documents) {
		doc.Results = append(doc.Results, ranked{i, 1 / float64(i+1)})
	}
	return doc
}

func cohereModelsAnswer(*call) any {
	return map[string]any{"models": []any{map[string]any{"name": "command-a-03-2025", "endpoints": []string{"chat"}}}}
}
