// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/jsonscan"
)

// Costs are what a part that is not text costs, in tokens.
type Costs struct{ Image, Audio, Document int64 }

const (
	// maxModel bounds the model's name; the longest known is below 100.
	maxModel = 256
	// numberBytes is what a number counts as: arrays of tokens are legal input, one token each, and input
	// is estimated at a token for each three bytes.
	numberBytes = 3
)

// Read reads body, a JSON object.
func Read(body []byte, costs Costs) dialect.Request {
	r := reader{Scanner: jsonscan.New(body), costs: costs}
	if !r.Enter('{') {
		return unknown(body)
	}
	for first := true; ; {
		key, more := r.Key(&first)
		if !more {
			break
		}
		r.member(nameOf(key))
	}
	if r.Err() || !r.AtEnd() {
		return unknown(body)
	}
	return r.request
}

func unknown(body []byte) dialect.Request { return dialect.Request{TextBytes: int64(len(body))} }

type reader struct {
	jsonscan.Scanner
	request dialect.Request
	costs   Costs
}

// member reads a member of the body itself.
func (r *reader) member(n name) {
	switch n {
	case model:
		r.model()
	case stream:
		r.request.Stream, _ = r.Bool()
	case maxTokens:
		if value, ok := r.Int(); ok {
			r.request.MaxOutputTokens = max(r.request.MaxOutputTokens, value)
		}
	case choices:
		if value, ok := r.Int(); ok {
			r.request.Choices = max(r.request.Choices, value)
		}
	case streamOptions:
		r.streamOptions()
	case prompt, input:
		r.walk(other, false)
	case schema:
		r.whole()
	default:
		r.Skip()
	}
}

func (r *reader) model() {
	if r.Kind() != '"' {
		r.Skip()
		return
	}
	if text, ok := r.Text(); ok && len(text.Raw) <= maxModel {
		r.request.Model = text.Value()
	}
}

func (r *reader) streamOptions() {
	r.request.WantsUsage = false
	if !r.Enter('{') {
		r.Skip()
		return
	}
	for first := true; ; {
		key, more := r.Key(&first)
		if !more {
			return
		}
		if key.Is("include_usage") {
			r.request.WantsUsage, _ = r.Bool()
			continue
		}
		r.Skip()
	}
}

// whole counts a value with all its names and brackets: schemas and arguments are shown to the model as
// they are.
func (r *reader) whole() {
	r.Kind() // passes the space before it
	start := r.Pos()
	r.Skip()
	r.request.TextBytes += int64(r.Pos() - start)
}
