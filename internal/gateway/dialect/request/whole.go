// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package request

import "github.com/headgate-dev/headgate/internal/gateway/jsonscan"

// whole counts a value with all its names and brackets, as compact JSON without escapes: schemas and arguments are
// shown to the model as they are, but not as the client wrote them.
func (r *reader) whole() {
	if r.tooDeep() {
		return
	}
	switch r.Kind() {
	case '"':
		if text, ok := r.Text(); ok {
			r.quoted(text)
		}
	case '[':
		r.Enter('[')
		r.structure(len("[]"))
		for first, comma := true, false; r.Elem(&first); comma = true {
			r.separated(comma)
			r.whole()
		}
	case '{':
		r.wholeObject()
	default:
		start := r.Pos()
		r.Skip()
		r.plainText(r.Since(start))
	}
}

func (r *reader) wholeObject() {
	r.Enter('{')
	r.structure(len("{}"))
	for first, comma := true, false; ; comma = true {
		key, more := r.Key(&first)
		if !more {
			return
		}
		if parts.of(key) == cacheMark {
			r.markCache()
			continue
		}
		r.separated(comma)
		r.structure(len(`"":`))
		r.plainText(key)
		r.whole()
	}
}

func (r *reader) separated(comma bool) {
	if comma {
		r.structure(len(","))
	}
}

// quoted counts a string with its quotes. Even a tool's definition may hold a picture.
func (r *reader) quoted(text jsonscan.String) {
	if m, ok := dataURL(text); ok {
		r.request.MediaTokens += r.cost(m)
		return
	}
	r.structure(len(`""`))
	r.plainText(text)
}

// structure counts bytes around names and values.
func (r *reader) structure(bytes int) {
	r.request.TextBytes += int64(bytes)
	r.sample.Structure(bytes)
}
