// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"cmp"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/jsonscan"
	"github.com/headgate-dev/headgate/internal/gateway/tokens"
)

// Costs are what a part that is not text costs, in tokens. Without a cost of its own a video costs what audio
// does.
type Costs struct{ Image, Audio, Document, Video int64 }

const (
	// maxModel bounds the model's name; the longest known is below 100.
	maxModel = 256
	// longestEscape is what a character takes at most in a JSON string.
	longestEscape = len(`\u0061`)
)

// Read reads body, a JSON object of a format that nobody has named.
func Read(body []byte, costs Costs) dialect.Request {
	return readObject(unnamed, body, costs, tokens.Sample{})
}

// ReadAs reads the body of an operation. contentType may be empty.
func ReadAs(op dialect.Operation, contentType string, body []byte, costs Costs) dialect.Request {
	if r, ok := readOther(contentType, body, costs); ok {
		return r
	}
	length := int64(len(body))
	body = inUTF8(body)
	f := formats[op.Format]
	if f == nil {
		f = unnamed
	}
	r := readObject(f, body, costs, tokens.Sample{})
	if exact, ok := tokens.Exactly(cmp.Or(op.Model, r.Model)); ok {
		r = readObject(f, body, costs, exact)
	}
	if op.Name == "embeddings" {
		r.Stream = false
	}
	r.TextBytes = min(r.TextBytes, length) // in UTF-8 it may take more
	if r.Model == "" {
		r.Model = r.Others[0]
	}
	if op.Model != "" {
		r.Others, r.Many = [len(r.Others)]string{}, false // the path's model is the only one
	}
	return r
}

func readObject(f *format, body []byte, costs Costs, sample tokens.Sample) dialect.Request {
	r := reader{Scanner: jsonscan.New(body), format: f, costs: costs, sample: sample, request: dialect.Request{Stream: f.streams}}
	if !r.Enter('{') {
		return unknown(body)
	}
	for first := true; ; {
		key, more := r.Key(&first)
		if !more {
			break
		}
		r.member(f.top.whatever(key))
	}
	if r.Err() || !r.AtEnd() {
		return r.asFar(body)
	}
	r.request.TextBytes = min(r.request.TextBytes, int64(len(body))) // broken escapes may stand for more than they take
	r.request.TokensPerByte = r.sample.PerByte()
	return r.request
}

// asFar is what is known of a body that cannot be read to its end, as one that is too large to hold: what was said before, and
// all of it costs as text.
func (r *reader) asFar(body []byte) dialect.Request {
	known := unknown(body)
	known.Others, known.Many = r.request.Others, r.request.Many || known.Many && r.request.Model == ""
	known.Model, known.Stream, known.MaxOutputTokens, known.Choices = r.request.Model, r.request.Stream, r.request.MaxOutputTokens, r.request.Choices
	return known
}

// unknown is a body that cannot be read here, and may be of any model.
func unknown(body []byte) dialect.Request {
	return dialect.Request{TextBytes: int64(len(body)), Many: len(body) > 0}
}

type reader struct {
	jsonscan.Scanner
	format  *format
	request dialect.Request
	costs   Costs
	sample  tokens.Sample
}

// member reads a member of the body itself, or of its settings.
func (r *reader) member(n role) {
	switch n {
	case other:
		r.Skip()
	case model:
		r.model()
	case otherModel:
		r.otherModel()
	case models:
		r.models()
	case stream:
		r.request.Stream, _ = r.Bool()
	case maxTokens:
		r.largest(&r.request.MaxOutputTokens)
	case choices:
		r.largest(&r.request.Choices)
	case streamOptions:
		r.streamOptions()
	case settings:
		r.settings()
	case cacheMark:
		r.markCache()
	case stored:
		r.request.Continues = r.request.Continues || r.Kind() != 'n'
		r.Skip()
	default:
		r.top(n)
	}
}

// top reads what costs input.
func (r *reader) top(n role) {
	r.count(r.walk(n, unstated), unstated)
}

// largest keeps the largest of several fields; what is negative or no number is not stated.
func (r *reader) largest(into *int64) {
	read := r.Int
	if r.format.quoted && r.Kind() == '"' {
		read = r.QuotedInt
	}
	if value, ok := read(); ok {
		*into = max(*into, value)
	}
}

func (r *reader) model() {
	if name := r.name(); name != "" {
		r.request.Name(name)
	}
}

// otherModel is not the model where there is one in the letters that all providers read: most take no notice of another.
func (r *reader) otherModel() {
	if r.request.Model == "" {
		r.model()
		return
	}
	r.request.MayName(r.name())
}

// name reads the name of a model; "" for any other value, which is skipped.
func (r *reader) name() string {
	if r.Kind() != '"' {
		r.Skip()
		return ""
	}
	// A name is as long as what it stands for: one in escapes takes six times that.
	if text, ok := r.Text(); ok && len(text.Raw) <= longestEscape*maxModel && text.Len() <= maxModel {
		return text.Value()
	}
	return ""
}

// models reads a list of models of which the provider takes one, as routers have it.
func (r *reader) models() {
	if r.Full() || !r.Enter('[') {
		r.Skip()
		return
	}
	for first := true; r.Elem(&first); {
		if r.Kind() == '{' && !r.Full() {
			r.modelIn()
			continue
		}
		r.request.MayName(r.name())
	}
}

// modelIn reads an element of such a list that says more of a model than its name.
func (r *reader) modelIn() {
	r.Enter('{')
	for first := true; ; {
		key, more := r.Key(&first)
		if !more {
			return
		}
		if key.Is("model") {
			r.request.MayName(r.name())
			continue
		}
		r.Skip()
	}
}

func (r *reader) streamOptions() {
	r.request.WantsUsage = false
	if r.Full() || !r.Enter('{') {
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

func (r *reader) settings() {
	if r.Full() || !r.Enter('{') {
		r.Skip()
		return
	}
	for first := true; ; {
		key, more := r.Key(&first)
		if !more {
			return
		}
		r.member(r.format.set.whatever(key))
	}
}
