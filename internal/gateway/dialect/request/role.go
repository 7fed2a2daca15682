// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/headgate-dev/headgate/internal/gateway/jsonscan"
)

// role is what a member means, as far as it matters.
type role uint8

const (
	other role = iota

	// Roles of members of the body itself.

	model
	// otherModel is it in other letters.
	otherModel
	models
	stream
	streamOptions
	maxTokens
	choices
	// settings is an object with further numbers.
	settings
	// stored names what the provider has of the prompt.
	stored

	// Roles of both.

	// prompt holds text and media.
	prompt
	// schema is counted whole.
	schema
	image
	audio
	video
	// file is an object that holds a document or refers to one.
	file

	// Roles of members of parts.

	// kind says what the part is.
	kind
	// arguments are counted whole unless they are a string.
	arguments
	// document is a part, or a string of text.
	document
	// reference stands for a file that the provider has or fetches.
	reference
	// source describes a medium; blob does so too, and its text is in base64.
	source
	blob
	// result is what a tool of the provider's made: a picture or text.
	result
	// cacheMark marks a part for the provider's cache; it is not shown to the model.
	cacheMark
	// hidden is not shown to the model.
	hidden
	// sealed is shown to the model after decryption.
	sealed
)

// table maps names to roles.
type table map[string]role

// longestName bounds the names that are looked up; the longest in the tables is below 32, and an escape takes
// six bytes.
const longestName = 192

func (t table) of(key jsonscan.String) role {
	if n, ok := t[string(key.Raw)]; ok {
		return n
	}
	if len(key.Raw) > longestName || bytes.IndexByte(key.Raw, '\\') < 0 {
		return other
	}
	return t[key.Value()]
}

// whatever is the role of a member in whatever letters its name is written, if it decides what a call is and costs: to
// servers written in Go or for .NET model, Model and MODEL are one, and a call would be of no model to limits and of one
// to its provider.
func (t table) whatever(key jsonscan.String) role {
	n := t.of(key)
	if n != other || len(key.Raw) > longestName || !bytes.ContainsFunc(key.Raw, maybeCapital) {
		return n
	}
	switch n = t[strings.ToLower(key.Value())]; n {
	case model:
		return otherModel
	case models, maxTokens, choices, settings, prompt:
		return n
	default:
		return other
	}
}

// maybeCapital are characters that are others in small letters, or stand for such.
func maybeCapital(r rune) bool { return r >= 'A' && r <= 'Z' || r >= utf8.RuneSelf || r == '\\' }

// parts are the members of contents, messages, their parts, and what these hold.
var parts = table{
	"type": kind,

	"arguments": arguments, "args": arguments, "input": arguments, "json": arguments, "parameters": arguments,
	"response": arguments,

	"image": image, "image_url": image, "images": image, "inputImage": image, "maskImage": image,
	"audio": audio, "audio_url": audio, "input_audio": audio,
	"input_video": video, "video": video, "video_url": video,
	"document": document, "document_url": reference, "file": file, "file_id": reference, "file_url": reference,
	"fileData": blob, "file_data": blob, "inlineData": blob, "inline_data": blob,
	"source": source, "mediaSource": source,
	"result": result,

	"cachePoint": cacheMark, "cache_control": cacheMark, "signature": hidden, "thoughtSignature": hidden,
	"thought_signature": hidden, "videoMetadata": hidden, "video_metadata": hidden,
	"encrypted_content": sealed, "encrypted_index": sealed, "redactedContent": sealed,
}
