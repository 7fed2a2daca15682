// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import "encoding/json"

var (
	geminiEmbedOperation = operation{
		name: "embeddings", decode: decodeGeminiEmbed, valid: validGeminiEmbed, answer: geminiEmbedAnswer,
	}
	geminiBatchEmbedOperation = operation{
		name: "embeddings", decode: decodeGeminiEmbed, valid: validGeminiEmbed, answer: geminiBatchEmbedAnswer,
	}
	geminiModels = operation{name: "models", free: true, answer: geminiModelsAnswer}
)

func decodeGeminiEmbed(body []byte, r *request) error {
	var doc struct {
		Dimensions *int64 `json:"outputDimensionality"`
		Requests   []struct {
			Dimensions *int64 `json:"outputDimensionality"`
		} `json:"requests"`
	}
	err := json.Unmarshal(body, &doc)
	r.Dimensions = doc.Dimensions
	if len(doc.Requests) > 0 {
		r.Dimensions = doc.Requests[0].Dimensions
	}
	return err
}

func validGeminiEmbed(r *request) string {
	if len(r.Content) == 0 && len(r.Requests) == 0 {
		return "* EmbedContentRequest.content: content is not specified\n"
	}
	r.MaxOutputTokens = new(int64) // embeddings have no output
	return ""
}

type geminiVector struct {
	Values any `json:"values"`
}

func geminiEmbedAnswer(c *call) any {
	return map[string]geminiVector{"embedding": {c.vector(maxDimensions)}}
}

func geminiBatchEmbedAnswer(c *call) any {
	vectors := make([]geminiVector, inputs(c.req.Requests))
	for i := range vectors {
		vectors[i] = geminiVector{c.vector(maxDimensions)}
	}
	return map[string][]geminiVector{"embeddings": vectors}
}

type geminiModelEntry struct {
	Name        string   `json:"name"`
	Version     string   `json:"version"`
	DisplayName string   `json:"displayName"`
	InputLimit  int64    `json:"inputTokenLimit"`
	OutputLimit int64    `json:"outputTokenLimit"`
	Methods     []string `json:"supportedGenerationMethods"`
}

func geminiModelsAnswer(c *call) any {
	entry := func(id string) geminiModelEntry {
		return geminiModelEntry{
			"models/" + id, "001", id, 1_048_576, 65_536, []string{"generateContent", "countTokens"},
		}
	}
	if c.target.model != "" {
		return entry(clip(c.target.model, maxModelName))
	}
	return map[string][]geminiModelEntry{"models": {entry("gemini-2.5-pro"), entry("gemini-2.5-flash")}}
}
