// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build tokenizer

package tokens

import (
	"slices"
	"strings"
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"
)

// exactBudget bounds what is counted of a request, at one to three megabytes a second; the rest is taken to be alike.
const exactBudget = 32 << 10

// piece is what is counted at once: space mixed with newlines takes the square of its length. A cut adds a token at
// most.
const piece = 2 << 10

// families are the beginnings of the names of models with the o200k vocabulary.
var families = []string{"gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "gpt-6", "gpt-oss", "chatgpt-4o", "o1", "o3", "o4"}

var vocabulary = sync.OnceValue(codec.NewO200kBase)

func counter(model string) func(text []byte) float64 {
	for _, family := range families {
		if strings.HasPrefix(model, family) {
			return count
		}
	}
	return nil
}

func count(text []byte) (tokens float64) {
	for part := range slices.Chunk(text, piece) {
		n, err := vocabulary().Count(string(part))
		if err != nil {
			tokens += Expected(part)
			continue
		}
		tokens += float64(n)
	}
	return tokens
}
