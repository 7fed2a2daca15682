// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"
)

var embeddingsOperation = operation{
	name: "embeddings", valid: validInput, answer: embeddingsAnswer,
}

func validInput(r *request) string {
	switch {
	case r.Model == "":
		return "you must provide a model parameter"
	case len(r.Input) == 0:
		return "Missing required parameter: 'input'."
	}
	r.MaxOutputTokens = new(int64) // embeddings have no output
	return ""
}

type embeddings struct {
	Object string          `json:"object"`
	Data   []embedding     `json:"data"`
	Model  string          `json:"model"`
	Usage  embeddingsUsage `json:"usage"`
}

type embedding struct {
	Object    string `json:"object"`
	Index     int    `json:"index"`
	Embedding any    `json:"embedding"`
}

type embeddingsUsage struct {
	PromptTokens int64 `json:"prompt_tokens"`
	TotalTokens  int64 `json:"total_tokens"`
}

// Bounds of an embeddings answer, as the provider has them.
const (
	defaultDimensions = 1_536
	maxDimensions     = 3_072
	maxInputs         = 2_048
)

func embeddingsAnswer(c *call) any {
	doc := embeddings{
		Object: "list", Model: c.req.Model,
		Usage: embeddingsUsage{PromptTokens: c.size.input, TotalTokens: c.size.input},
	}
	vector := c.vector(defaultDimensions)
	for i := range inputs(c.req.Input) {
		doc.Data = append(doc.Data, embedding{Object: "embedding", Index: i, Embedding: vector})
	}
	return doc
}

// vector is the embedding of any text.
func (c *call) vector(dimensions int64) any {
	if c.req.Dimensions != nil {
		dimensions = max(1, min(*c.req.Dimensions, maxDimensions))
	}
	return unitVector(int(dimensions), c.req.EncodingFormat)
}

// inputs is how many texts the input has: a string is one, so is a list of token numbers.
func inputs(raw json.RawMessage) int {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return 1
	}
	if !strings.ContainsAny(string(list[0][:1]), "\"[{") {
		return 1
	}
	return min(len(list), maxInputs)
}

// unitVector is a vector of length 1, as floats or as base64 of little-endian float32.
func unitVector(dimensions int, format string) any {
	v := make([]float32, dimensions)
	for i := range v {
		v[i] = float32(1 / math.Sqrt(float64(dimensions)))
	}
	if format != "base64" {
		return v
	}
	buf := make([]byte, 0, 4*dimensions)
	for _, f := range v {
		buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(f))
	}
	return base64.StdEncoding.EncodeToString(buf)
}
