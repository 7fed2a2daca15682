// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package request

import "bytes"

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

// typeOf is by a media type's first part; "image\/png" is legal JSON and has the same.
func typeOf(mediaType []byte) medium {
	switch {
	case bytes.HasPrefix(mediaType, []byte("image")):
		return isImage
	case bytes.HasPrefix(mediaType, []byte("audio")):
		return isAudio
	case bytes.HasPrefix(mediaType, []byte("video")):
		return isVideo
	}
	return isDocument
}

func isText(mediaType []byte) bool { return bytes.HasPrefix(mediaType, []byte("text")) }

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
