// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"bytes"

	"github.com/headgate-dev/headgate/internal/gateway/jsonscan"
)

// walk counts a value below the prompt members. document says that the block it belongs to is a document.
func (r *reader) walk(n name, document bool) {
	switch r.Kind() {
	case '"':
		if text, ok := r.Text(); ok {
			r.text(n, text)
		}
	case '[':
		r.Enter('[')
		for first := true; r.Elem(&first); {
			r.walk(n, document)
		}
	case '{':
		r.object(n, document)
	case 't', 'f', 'n':
		r.Skip()
	default:
		r.Skip()
		r.request.TextBytes += numberBytes
	}
}

func (r *reader) text(n name, text jsonscan.String) {
	switch n {
	case imageURL:
		r.request.MediaTokens += r.costs.Image
	case fileData:
		r.request.MediaTokens += r.costs.Document
	case signature: // proves a thought's origin; the model does not see it
	default:
		if mediaType, ok := dataURL(text.Raw); ok {
			r.request.MediaTokens += r.cost(mediaType)
			return
		}
		r.request.TextBytes += int64(text.Len())
	}
}

// dataURL returns the media type of data:TYPE;base64,….
func dataURL(text []byte) (mediaType []byte, ok bool) {
	const longest = 128 // of a media type with parameters
	if !bytes.HasPrefix(text, []byte("data:")) {
		return nil, false
	}
	head := text[len("data:"):]
	head = head[:min(len(head), longest)]
	i := bytes.Index(head, []byte(";base64,"))
	if i < 0 {
		return nil, false
	}
	return head[:i], true
}

// cost is by the media type's first part; "image\/png" is legal JSON and has the same.
func (r *reader) cost(mediaType []byte) int64 {
	switch {
	case bytes.HasPrefix(mediaType, []byte("image")):
		return r.costs.Image
	case bytes.HasPrefix(mediaType, []byte("audio")), bytes.HasPrefix(mediaType, []byte("video")):
		return r.costs.Audio
	}
	return r.costs.Document
}

func (r *reader) object(n name, document bool) {
	switch n {
	case imageURL:
		r.media(r.costs.Image)
	case audio:
		r.media(r.costs.Audio)
	case file:
		r.media(r.costs.Document)
	case source, inlineData:
		r.source(document)
	case input, arguments:
		r.whole()
	default:
		r.members()
	}
}

func (r *reader) media(cost int64) {
	r.Skip()
	r.request.MediaTokens += cost
}

func (r *reader) members() {
	r.Enter('{')
	document := false
	for first := true; ; {
		key, more := r.Key(&first)
		if !more {
			return
		}
		n := nameOf(key)
		if n == kind && r.Kind() == '"' {
			text, _ := r.Text()
			document = text.Is("document")
			r.request.TextBytes += int64(len(text.Raw))
			continue
		}
		r.walk(below(n), document)
	}
}

// below gives names that matter only in the body itself their plain meaning.
func below(n name) name {
	if n <= prompt || n == schema {
		return other
	}
	return n
}

// source reads {"type":"base64","media_type":"image/png","data":"…"} in any order of its members; the data
// of a text is text.
func (r *reader) source(document bool) {
	r.Enter('{')
	var mediaType, data jsonscan.String
	text, nested := false, false
	for first := true; ; {
		key, more := r.Key(&first)
		if !more {
			break
		}
		switch {
		case r.Kind() != '"':
			nested = true // content blocks, which cost what they hold
			r.walk(other, false)
			continue
		case key.Is("media_type"), key.Is("mimeType"), key.Is("mime_type"):
			mediaType, _ = r.Text()
		case key.Is("data"):
			data, _ = r.Text()
		case key.Is("type"):
			value, _ := r.Text()
			text = value.Is("text")
		default:
			r.Skip()
		}
	}
	r.settle(mediaType, data, text || nested, document)
}

func (r *reader) settle(mediaType, data jsonscan.String, text, document bool) {
	switch {
	case text || bytes.HasPrefix(mediaType.Raw, []byte("text")):
		r.request.TextBytes += int64(data.Len())
	case document || len(mediaType.Raw) == 0 && len(data.Raw) > 0:
		r.request.MediaTokens += r.costs.Document
	case len(mediaType.Raw) == 0:
		r.request.MediaTokens += r.costs.Image // by URL or by file: an image unless said otherwise
	default:
		r.request.MediaTokens += r.cost(mediaType.Raw)
	}
}
