// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

var (
	messagesOperation = operation{
		name: "messages", valid: validAnthropic, answer: messageAnswer, stream: messageStream,
	}
	countTokensOperation = operation{
		name: "count_tokens", free: true, valid: validCount, answer: countAnswer,
	}
	anthropicModels = operation{name: "models", free: true, answer: anthropicModelsAnswer}
)

func validAnthropic(r *request) string {
	if r.MaxTokens == nil {
		return "max_tokens: Field required"
	}
	return validCount(r)
}

func validCount(r *request) string {
	switch {
	case r.Model == "":
		return "model: Field required"
	case len(r.Messages) == 0:
		return "messages: Field required"
	}
	return ""
}

type message struct {
	ID           string         `json:"id"`
	Type         string         `json:"type"`
	Role         string         `json:"role"`
	Model        string         `json:"model"`
	Content      []textBlock    `json:"content"`
	StopReason   *string        `json:"stop_reason"`
	StopSequence *string        `json:"stop_sequence"`
	Usage        anthropicUsage `json:"usage"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type anthropicUsage struct {
	InputTokens   int64          `json:"input_tokens"`
	CacheCreation int64          `json:"cache_creation_input_tokens"`
	CacheRead     int64          `json:"cache_read_input_tokens"`
	CacheByTTL    *cacheCreation `json:"cache_creation,omitempty"`
	OutputTokens  int64          `json:"output_tokens"`
	ServiceTier   string         `json:"service_tier,omitempty"`
}

type cacheCreation struct {
	Ephemeral5m int64 `json:"ephemeral_5m_input_tokens"`
	Ephemeral1h int64 `json:"ephemeral_1h_input_tokens"`
}

func (c *call) anthropicUsage(output int64) anthropicUsage {
	return anthropicUsage{
		InputTokens: c.size.input, CacheCreation: c.size.cacheWrite, CacheRead: c.size.cached, OutputTokens: output,
	}
}

// fullUsage is usage as a message carries it; a message_delta has less.
func (c *call) fullUsage(output int64) anthropicUsage {
	u := c.anthropicUsage(output)
	u.CacheByTTL, u.ServiceTier = &cacheCreation{Ephemeral5m: c.size.cacheWrite}, "standard"
	return u
}

func messageAnswer(c *call) any {
	reason := c.finishReason("end_turn", "max_tokens")
	return message{
		ID: "msg_" + c.id, Type: "message", Role: "assistant", Model: c.req.Model,
		Content: []textBlock{{"text", c.text()}}, StopReason: &reason, Usage: c.fullUsage(c.size.output),
	}
}

func countAnswer(c *call) any {
	return map[string]int64{"input_tokens": c.size.input}
}

type anthropicModel struct {
	Type        string `json:"type"`
	ID          string `json:"id"`
	DisplayName string `json:"display_name"`
	CreatedAt   string `json:"created_at"`
}

type anthropicModelList struct {
	Data    []anthropicModel `json:"data"`
	HasMore bool             `json:"has_more"`
	FirstID string           `json:"first_id"`
	LastID  string           `json:"last_id"`
}

func anthropicModelsAnswer(c *call) any {
	entry := func(id string) anthropicModel { return anthropicModel{"model", id, id, "2025-09-29T00:00:00Z"} }
	if id := c.target.model; id != "" {
		return entry(clip(id, maxModelName))
	}
	return anthropicModelList{
		Data:    []anthropicModel{entry("claude-opus-4-5"), entry("claude-sonnet-4-5")},
		FirstID: "claude-opus-4-5", LastID: "claude-sonnet-4-5",
	}
}
