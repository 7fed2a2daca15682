// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

var completionsOperation = operation{
	name: "completions", valid: validPrompt, answer: completionAnswer, stream: completionStream,
}

func validPrompt(r *request) string {
	switch {
	case r.Model == "":
		return "you must provide a model parameter"
	case len(r.Prompt) == 0:
		return "Missing required parameter: 'prompt'."
	}
	return ""
}

type completion struct {
	ID      string             `json:"id"`
	Object  string             `json:"object"`
	Created int64              `json:"created"`
	Model   string             `json:"model"`
	Choices []completionChoice `json:"choices"`
	Usage   any                `json:"usage,omitempty"`
}

type completionChoice struct {
	Text         string  `json:"text"`
	Index        int     `json:"index"`
	Logprobs     any     `json:"logprobs"`
	FinishReason *string `json:"finish_reason"`
}

func (c *call) completion(choices ...completionChoice) completion {
	return completion{
		ID: "cmpl-" + c.id, Object: "text_completion", Created: c.started.Unix(), Model: c.req.Model,
		Choices: choices,
	}
}

func completionAnswer(c *call) any {
	doc := c.completion()
	doc.Usage = c.openAIUsage()
	reason := c.finishReason("stop", "length")
	for i := range c.req.answers() {
		doc.Choices = append(doc.Choices, completionChoice{Text: c.text(), Index: i, FinishReason: &reason})
	}
	return doc
}

func completionStream(c *call) events {
	return func(yield func(event) bool) {
		chunk := func(choices ...completionChoice) completion {
			doc := c.completion(choices...)
			if c.req.wantsUsage() {
				doc.Usage = null{}
			}
			return doc
		}
		for i := range c.req.answers() {
			for text, n := range c.pieces() {
				piece := chunk(completionChoice{Text: text, Index: i})
				if !yield(event{data: piece, tokens: n, content: true}) {
					return
				}
			}
			reason := c.finishReason("stop", "length")
			if !yield(event{data: chunk(completionChoice{Index: i, FinishReason: &reason})}) {
				return
			}
		}
		if c.req.wantsUsage() {
			last := c.completion([]completionChoice{}...)
			last.Choices, last.Usage = []completionChoice{}, c.openAIUsage()
			if !yield(event{data: last}) {
				return
			}
		}
		yield(event{data: []byte("[DONE]")})
	}
}
