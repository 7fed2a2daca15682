// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

var openAIModels = operation{name: "models", free: true, answer: openAIModelsAnswer}

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

func openAIModelsAnswer(c *call) any {
	entry := func(id string) model { return model{id, "model", 1_700_000_000, "system"} }
	if id := c.target.model; id != "" {
		return entry(clip(id, maxModelName))
	}
	return modelList{"list", []model{entry("gpt-4.1"), entry("gpt-4.1-mini"), entry("text-embedding-3-small")}}
}
