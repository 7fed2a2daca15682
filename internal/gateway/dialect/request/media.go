// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"bytes"
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/jsonscan"
)

// medium is what a part holds instead of text.
type medium uint8

const (
	unstated medium = iota
	isImage
	isAudio
	isVideo
	isDocument
	// isNothing costs nothing: a file for a container is not shown to the model.
	isNothing
)

// media are parts whose medium is not told by themselves: what refers to a file, and what has a source.
type media struct{ references, sources int64 }

func (m *media) add(more media) {
	m.references += more.references
	m.sources += more.sources
}

// count counts them, once the part around them has said what it is.
func (r *reader) count(m media, told medium) {
	if told != unstated {
		r.request.MediaTokens += (m.references + m.sources) * r.cost(told)
		return
	}
	r.request.MediaTokens += m.references*r.cost(isDocument) + m.sources*r.cost(isImage)
}

func (r *reader) cost(m medium) int64 {
	switch m {
	case isImage:
		return r.costs.Image
	case isAudio:
		return r.costs.Audio
	case isVideo:
		return r.costs.video()
	case isDocument:
		return r.costs.Document
	default:
		return 0
	}
}

func (c Costs) video() int64 {
	if c.Video > 0 {
		return c.Video
	}
	return c.Audio
}

// kindOf is the medium of a part of that type.
func kindOf(name string) medium {
	switch name {
	case "image", "image_url", "input_image":
		return isImage
	case "audio", "audio_url", "input_audio":
		return isAudio
	case "video", "video_url", "input_video":
		return isVideo
	case "document", "document_url", "file", "input_file":
		return isDocument
	case "container_upload":
		return isNothing
	}
	return unstated
}

// typeOf is by a media type's first part.
func typeOf(mediaType string) medium {
	switch {
	case strings.HasPrefix(mediaType, "image"):
		return isImage
	case strings.HasPrefix(mediaType, "audio"):
		return isAudio
	case strings.HasPrefix(mediaType, "video"):
		return isVideo
	}
	return isDocument
}

// dataURL returns the medium of data:TYPE;base64,….
func dataURL(text jsonscan.String) (m medium, ok bool) {
	const (
		scheme  = "data:"
		longest = 128 // of a media type with parameters
		escape  = 6   // bytes that one of its characters may take
	)
	if len(text.Raw) == 0 || text.Raw[0] != scheme[0] && text.Raw[0] != '\\' {
		return unstated, false
	}
	head := text.Raw[:min(len(text.Raw), longest*escape)]
	if i := bytes.IndexByte(head, ','); i >= 0 {
		head = head[:i+1]
	}
	rest, ok := strings.CutPrefix(jsonscan.String{Raw: head}.Value(), scheme)
	mediaType, _, coded := strings.Cut(rest, ";base64,")
	if !ok || !coded || len(mediaType) > longest {
		return unstated, false
	}
	return typeOf(mediaType), true
}
