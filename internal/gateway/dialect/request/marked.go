// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"bytes"

	"github.com/headgate-dev/headgate/internal/gateway/jsonscan"
)

var (
	markBegin  = []byte("](data:image")
	markScheme = []byte("](")
	markBase64 = []byte(";base64,")
	// asciiEscape may hide a mark; other escapes cannot, and copying ten megabytes would be dear.
	asciiEscape = []byte(`\u00`)
)

// marked counts text that holds pictures as Markdown does: ![](data:image/png;base64,…).
func (r *reader) marked(text jsonscan.String) {
	raw, count := text.Raw, func(raw []byte) { r.plainText(jsonscan.String{Raw: raw}) }
	if bytes.Contains(raw, asciiEscape) {
		raw, count = []byte(text.Value()), r.decodedText
	}
	for {
		i := bytes.Index(raw, markBegin)
		if i < 0 {
			count(raw)
			return
		}
		i += len(markScheme)
		count(raw[:i])
		raw = raw[i:]
		end := bytes.IndexByte(raw, ')')
		if end >= 0 && bytes.Contains(raw[:min(end, longestName)], markBase64) {
			r.request.MediaTokens += r.costs.Image
			raw = raw[end:]
		}
	}
}

func (r *reader) decodedText(text []byte) {
	r.request.TextBytes += int64(len(text))
	r.sample.AddPlain(text)
}
