// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import "strings"

var openAIModels = operation{name: "models", dialect: OpenAI, free: true, answer: openAIModelsAnswer}

type model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

type modelList struct {
	Object string  `json:"object"`
	Data   []model `json:"data"`
}

// modelAsked is the model a path names, "" for the list.
func modelAsked(c *call) string {
	return strings.Trim(strings.TrimPrefix(c.r.URL.Path, "/v1/models"), "/")
}

func openAIModelsAnswer(c *call) any {
	entry := func(id string) model { return model{id, "model", 1_700_000_000, "system"} }
	if id := modelAsked(c); id != "" {
		return entry(clip(id, maxModelName))
	}
	return modelList{"list", []model{entry("gpt-4.1"), entry("gpt-4.1-mini"), entry("text-embedding-3-small")}}
}
