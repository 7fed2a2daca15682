// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

var responsesOperation = operation{
	name: "responses", valid: validResponses, answer: responsesAnswer, stream: responsesStream,
}

func validResponses(r *request) string {
	if r.Model == "" {
		return "you must provide a model parameter"
	}
	if len(r.Input) == 0 {
		return "Missing required parameter: 'input'."
	}
	return ""
}

type response struct {
	ID                string            `json:"id"`
	Object            string            `json:"object"`
	CreatedAt         int64             `json:"created_at"`
	Status            string            `json:"status"`
	Background        bool              `json:"background"`
	Error             any               `json:"error"`
	IncompleteDetails any               `json:"incomplete_details"`
	Instructions      any               `json:"instructions"`
	MaxOutputTokens   *int64            `json:"max_output_tokens"`
	Model             string            `json:"model"`
	Output            []outputItem      `json:"output"`
	ParallelToolCalls bool              `json:"parallel_tool_calls"`
	PreviousID        *string           `json:"previous_response_id"`
	Temperature       float64           `json:"temperature"`
	ToolChoice        string            `json:"tool_choice"`
	Tools             []any             `json:"tools"`
	TopP              float64           `json:"top_p"`
	Truncation        string            `json:"truncation"`
	Usage             *responsesUsage   `json:"usage"`
	Metadata          map[string]string `json:"metadata"`
}

type outputItem struct {
	ID      string       `json:"id"`
	Type    string       `json:"type"`
	Status  string       `json:"status"`
	Content []outputPart `json:"content"`
	Role    string       `json:"role"`
}

type outputPart struct {
	Type        string `json:"type"`
	Annotations []any  `json:"annotations"`
	Logprobs    []any  `json:"logprobs"`
	Text        string `json:"text"`
}

type responsesUsage struct {
	InputTokens   int64               `json:"input_tokens"`
	InputDetails  responsesInDetails  `json:"input_tokens_details"`
	OutputTokens  int64               `json:"output_tokens"`
	OutputDetails responsesOutDetails `json:"output_tokens_details"`
	TotalTokens   int64               `json:"total_tokens"`
}

type responsesInDetails struct {
	CachedTokens     int64 `json:"cached_tokens"`
	CacheWriteTokens int64 `json:"cache_write_tokens"`
}

type responsesOutDetails struct {
	ReasoningTokens int64 `json:"reasoning_tokens"`
}

// response is the document in a given state, without output.
func (c *call) response(status string) response {
	return response{
		ID: "resp_" + c.id, Object: "response", CreatedAt: c.started.Unix(), Status: status,
		MaxOutputTokens: c.req.MaxOutputTokens, Model: c.req.Model, Output: []outputItem{}, ParallelToolCalls: true,
		Temperature: 1, ToolChoice: "auto", Tools: []any{}, TopP: 1, Truncation: "disabled",
		Metadata: map[string]string{},
	}
}

func (c *call) outputItem(status string, parts ...outputPart) outputItem {
	if parts == nil {
		parts = []outputPart{}
	}
	return outputItem{ID: "msg_" + c.id, Type: "message", Status: status, Content: parts, Role: "assistant"}
}

func outputText(s string) outputPart {
	return outputPart{Type: "output_text", Annotations: []any{}, Logprobs: []any{}, Text: s}
}

func responsesAnswer(c *call) any {
	doc := c.response(c.finishReason("completed", "incomplete"))
	if doc.Status == "incomplete" {
		doc.IncompleteDetails = map[string]string{"reason": "max_output_tokens"}
	}
	doc.Output = []outputItem{c.outputItem(doc.Status, outputText(c.text()))}
	doc.Usage = &responsesUsage{
		InputTokens: c.size.input, OutputTokens: c.output(), TotalTokens: c.size.input + c.output(),
		InputDetails:  responsesInDetails{min(c.size.cached, c.size.input), c.size.cacheWrite},
		OutputDetails: responsesOutDetails{c.reasoning()},
	}
	return doc
}
