// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"encoding/json"
	"math"
)

// request is what is read of a call's body; the rest is ignored.
type request struct {
	Model               string          `json:"model"`
	Stream              bool            `json:"stream"`
	StreamOptions       *streamOptions  `json:"stream_options"`
	MaxTokens           *int64          `json:"max_tokens"`
	MaxCompletionTokens *int64          `json:"max_completion_tokens"`
	MaxOutputTokens     *int64          `json:"max_output_tokens"`
	N                   *int64          `json:"n"`
	BestOf              *int64          `json:"best_of"`
	Messages            json.RawMessage `json:"messages"`
	System              json.RawMessage `json:"system"`
	Input               json.RawMessage `json:"input"`
	Prompt              json.RawMessage `json:"prompt"`
	Instructions        json.RawMessage `json:"instructions"`
	Tools               json.RawMessage `json:"tools"`
	ToolConfig          json.RawMessage `json:"toolConfig"`
	// Google's, Cohere's, Ollama's and TGI's.
	Contents          json.RawMessage `json:"contents"`
	SystemInstruction json.RawMessage `json:"systemInstruction"`
	Requests          json.RawMessage `json:"requests"`
	Content           json.RawMessage `json:"content"`
	Inputs            json.RawMessage `json:"inputs"`
	Texts             json.RawMessage `json:"texts"`
	Query             json.RawMessage `json:"query"`
	Documents         json.RawMessage `json:"documents"`
	InputText         json.RawMessage `json:"inputText"`
	Suffix            json.RawMessage `json:"suffix"`
	// details: TGI is to say what was used.
	details        bool
	EncodingFormat string `json:"encoding_format"`
	Dimensions     *int64 `json:"dimensions"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// wantsUsage: an OpenAI chat or completions stream reports usage only if asked.
func (r *request) wantsUsage() bool { return r.StreamOptions != nil && r.StreamOptions.IncludeUsage }

// texts are the fields whose text is counted.
func (r *request) texts() []json.RawMessage {
	return []json.RawMessage{
		r.Messages, r.System, r.Input, r.Prompt, r.Instructions, r.Contents, r.SystemInstruction, r.Requests, r.Content,
		r.Inputs, r.Texts, r.Query, r.Documents, r.InputText, r.Suffix,
	}
}

// maxOutput is the largest of the fields that bound output; -1 if there is none.
func (r *request) maxOutput() int64 {
	most := int64(-1)
	for _, v := range []*int64{r.MaxTokens, r.MaxCompletionTokens, r.MaxOutputTokens} {
		if v != nil && *v >= 0 {
			most = max(most, min(*v, math.MaxInt32))
		}
	}
	return most
}

// maxChoices bounds n, as providers do.
const maxChoices = 128

// choices is how many answers are asked for.
func (r *request) choices() int64 {
	n := int64(1)
	for _, v := range []*int64{r.N, r.BestOf} {
		if v != nil {
			n = max(n, min(*v, maxChoices))
		}
	}
	return n
}

// answers is how many answers are given.
func (r *request) answers() int {
	if r.N == nil {
		return 1
	}
	return int(max(1, min(*r.N, maxChoices)))
}
