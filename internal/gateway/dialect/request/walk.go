// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package request

import "github.com/headgate-dev/headgate/internal/gateway/jsonscan"

// walk counts a value below the body's own members. told is the medium of the part around it. What it returns is
// counted when that part is known whole.
func (r *reader) walk(n role, told medium) (open media) {
	if n == schema {
		r.whole()
		return media{}
	}
	if r.tooDeep() {
		return media{}
	}
	switch r.Kind() {
	case '"':
		if text, ok := r.Text(); ok {
			return r.text(n, text)
		}
	case '[':
		if n == arguments {
			r.whole()
			return media{}
		}
		r.Enter('[')
		for first := true; r.Elem(&first); {
			open.add(r.walk(n, told))
		}
	case '{':
		return r.object(n, told)
	case 't', 'f', 'n':
		r.Skip()
	default:
		r.number()
	}
	return open
}

// tooDeep counts what is nested deeper than anything is entered as it stands: what is read must not end with it, since a
// provider may read on.
func (r *reader) tooDeep() bool {
	if kind := r.Kind(); !r.Full() || kind != '{' && kind != '[' {
		return false
	}
	start := r.Pos()
	r.Skip()
	r.plainText(r.Since(start))
	return true
}

// number counts one of an array of tokens, which are legal input: a token each, and input is estimated at a token
// for each three bytes.
func (r *reader) number() {
	const bytesPerToken = 3
	start := r.Pos()
	r.Skip()
	size := min(r.Pos()-start+1, bytesPerToken) // with its comma: never more than there is
	r.request.TextBytes += int64(size)
	r.sample.Tokens(size)
}

func (r *reader) text(n role, text jsonscan.String) media {
	switch n {
	case image, audio, video:
		r.request.MediaTokens += r.cost(mediumOf(n))
	case reference, blob:
		return media{references: 1}
	case hidden:
	case sealed:
		r.coded(text)
	default:
		r.plain(text)
	}
	return media{}
}

// plain counts text, unless it is a data URL.
func (r *reader) plain(text jsonscan.String) {
	if m, ok := dataURL(text); ok {
		r.request.MediaTokens += r.cost(m)
		return
	}
	if r.format.marked {
		r.marked(text)
		return
	}
	r.plainText(text)
}

func (r *reader) plainText(text jsonscan.String) {
	size := text.Len()
	r.request.TextBytes += int64(size)
	r.sample.Add(text, size)
}

// coded counts text in base64, by the length of what it stands for.
func (r *reader) coded(text jsonscan.String) {
	size := text.Len() / 4 * 3
	r.request.TextBytes += int64(size)
	r.sample.Unseen(size)
}

func mediumOf(n role) medium {
	switch n {
	case image:
		return isImage
	case audio:
		return isAudio
	case video:
		return isVideo
	default:
		return isDocument
	}
}

func (r *reader) object(n role, told medium) media {
	switch n {
	case image, audio, video, file:
		r.Skip()
		r.request.MediaTokens += r.cost(mediumOf(n))
	case hidden:
		r.Skip()
	case source, blob:
		return r.source(n, told)
	case arguments:
		r.whole()
	case document:
		r.part(isDocument)
	default:
		r.part(told)
	}
	return media{}
}

// part counts a part, a message, or what holds them, when all of its members are known: what it is may stand
// after what it holds.
func (r *reader) part(told medium) {
	r.Enter('{')
	var open media
	var made jsonscan.String
	drawn := false
	for first := true; ; {
		key, more := r.Key(&first)
		if !more {
			break
		}
		n := parts.of(key)
		switch {
		case n == cacheMark:
			r.markCache()
		case n == kind && r.Kind() == '"':
			text, _ := r.Text()
			r.plainText(text)
			if m := kindOf(text.Value()); m != unstated {
				told = m
			}
			drawn = text.Is("image_generation_call")
		case n == result && r.Kind() == '"':
			made, _ = r.Text()
		default:
			open.add(r.walk(n, told))
		}
	}
	r.count(open, told)
	if drawn && len(made.Raw) > 0 {
		r.request.MediaTokens += r.costs.Image
		return
	}
	r.plain(made)
}

// markCache notes that a part is marked for the provider's cache; null marks nothing.
func (r *reader) markCache() {
	r.request.MarksCache = r.request.MarksCache || r.Kind() != 'n'
	r.Skip()
}
