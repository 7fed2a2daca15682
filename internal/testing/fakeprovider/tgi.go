// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"encoding/json"
	"net/http"
)

// tgiAPI: a server without a free place refuses, whatever the reason.
var tgiAPI = ownAPI{
	flavour{
		shape: tgiShape,
		throttled: func(*call, throttled) problem {
			return problem{http.StatusTooManyRequests, "overloaded", "", tgiBusy, nil}
		},
		spent: always(problem{http.StatusPaymentRequired, "quota", "", "Payment required", nil}),
		busy:  problem{http.StatusTooManyRequests, "overloaded", "", tgiBusy, nil},
	},
	tgiError{"Request failed during generation: Server error: unexpected error", "generation"},
}

const tgiBusy = "Model is overloaded"

type tgiError struct {
	Error string `json:"error"`
	Type  string `json:"error_type"`
}

func tgiShape(_ *call, p problem) any {
	if p.status == http.StatusBadRequest {
		p.kind = "validation"
	}
	return tgiError{p.message, p.kind}
}

var tgiOperation = operation{
	name: "generate", api: tgiAPI, decode: decodeTGI, valid: validTGI, answer: tgiAnswer, stream: tgiStream,
	framing: func(*call) framing { return sse{tight: true} },
}

func decodeTGI(body []byte, r *request) error {
	var doc struct {
		Parameters struct {
			MaxNewTokens *int64 `json:"max_new_tokens"`
			Details      bool   `json:"details"`
		} `json:"parameters"`
	}
	err := json.Unmarshal(body, &doc)
	r.MaxTokens, r.details = doc.Parameters.MaxNewTokens, doc.Parameters.Details
	return err
}

func validTGI(r *request) string {
	if len(r.Inputs) == 0 {
		return "Input validation error: `inputs` cannot be empty"
	}
	return ""
}

type tgiGenerated struct {
	Text    string      `json:"generated_text"`
	Details *tgiDetails `json:"details,omitempty"`
}

type tgiDetails struct {
	FinishReason string  `json:"finish_reason"`
	Generated    int64   `json:"generated_tokens"`
	Input        *int64  `json:"input_length,omitempty"`
	Seed         *uint64 `json:"seed"`
	Prefill      []any   `json:"prefill,omitzero"`
	Tokens       []any   `json:"tokens,omitzero"`
}

func (c *call) tgiDetails() *tgiDetails {
	return &tgiDetails{FinishReason: c.finishReason("eos_token", "length"), Generated: c.size.output}
}

// tgiAnswer has details only if they were asked for.
func tgiAnswer(c *call) any {
	doc := tgiGenerated{Text: c.text()}
	if c.req.details {
		doc.Details = c.tgiDetails()
		doc.Details.Prefill, doc.Details.Tokens = []any{}, []any{}
	}
	return doc
}

type tgiPiece struct {
	Index   int64       `json:"index"`
	Token   tgiToken    `json:"token"`
	Text    *string     `json:"generated_text"`
	Details *tgiDetails `json:"details"`
}

type tgiToken struct {
	ID      int64   `json:"id"`
	Text    string  `json:"text"`
	LogProb float64 `json:"logprob"`
	Special bool    `json:"special"`
}

// tgiStream: the last token carries the whole text and the details.
func tgiStream(c *call) events {
	return func(yield func(event) bool) {
		made := int64(0)
		for text, n := range c.pieces() {
			made += n
			piece := tgiPiece{Index: made, Token: tgiToken{made, text, -0.5, false}}
			if made == c.size.output {
				piece.Text, piece.Details = pointer(c.text()), c.tgiDetails()
				piece.Details.Input = &c.size.input
			}
			if !yield(event{data: piece, tokens: n, content: true}) {
				return
			}
		}
	}
}
