// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"bytes"
	"mime"
	"strconv"
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

const (
	// maxFields bounds the fields of a form that are read; a transcription has some ten, and servers take a thousand.
	maxFields = 4096
	// maxFieldHead bounds a field's headers.
	maxFieldHead = 4 << 10
	// maxBoundary is the standard's.
	maxBoundary = 70
)

// readOther reads a body that its content type says is no JSON; false leaves it to be read as JSON, as most bodies
// without a type, or of a wrong one, are.
func readOther(contentType string, body []byte, costs Costs) (dialect.Request, bool) {
	major, _, _ := strings.Cut(contentType, "/")
	switch major = strings.ToLower(strings.TrimSpace(major)); major {
	case "multipart":
		mediaType, parameters, err := mime.ParseMediaType(contentType)
		boundary := parameters["boundary"]
		if err != nil || mediaType != "multipart/form-data" || boundary == "" || len(boundary) > maxBoundary {
			return unknown(body), true
		}
		return readForm(boundary, body, costs), true
	case "image", "audio", "video":
		if looksLikeJSON(body) {
			return dialect.Request{}, false // many servers read it whatever its type
		}
		if len(body) == 0 {
			return dialect.Request{}, true // nothing was sent, whatever its type
		}
		r := reader{costs: costs}
		return dialect.Request{MediaTokens: r.cost(typeOf(major))}, true
	}
	return dialect.Request{}, false
}

// looksLikeJSON says that a body begins like an object, which no medium does.
func looksLikeJSON(body []byte) bool {
	const most = 256 // of blanks before it; with more it costs its length
	return bytes.HasPrefix(bytes.TrimLeft(inUTF8(body[:min(len(body), most)]), " \t\r\n\ufeff"), []byte("{"))
}

// readForm reads the fields of a form: a transcription's model, prompt and file.
func readForm(boundary string, body []byte, costs Costs) dialect.Request {
	r := reader{costs: costs}
	delimiter := []byte("--" + boundary)
	between := append([]byte("\r\n"), delimiter...)
	rest, ok := bytes.CutPrefix(body, delimiter)
	if !ok {
		// Anything may stand before the first field, and means nothing.
		if _, rest, ok = bytes.Cut(body, between); !ok {
			return unknown(body)
		}
	}
	for range maxFields {
		if bytes.HasPrefix(rest, []byte("--")) {
			return r.request
		}
		end := bytes.Index(rest, between)
		if end < 0 {
			break
		}
		r.field(rest[:end])
		rest = rest[end+len(between):]
	}
	return r.asFar(body)
}

func (r *reader) field(field []byte) {
	blank := bytes.Index(field[:min(len(field), maxFieldHead)], []byte("\r\n\r\n"))
	if blank < 0 {
		r.request.TextBytes += int64(len(field))
		return
	}
	name, isFile, mediaType := fieldHead(field[:blank])
	value := field[blank+len("\r\n\r\n"):]
	if isFile {
		r.request.MediaTokens += r.cost(mediaType)
		return
	}
	switch name {
	case "model":
		if len(value) <= maxModel {
			r.request.Name(string(value))
		}
	case "stream":
		r.request.Stream = strings.EqualFold(string(value), "true")
	case "n":
		if n, err := strconv.ParseInt(string(value), 10, 32); err == nil {
			r.request.Choices = max(r.request.Choices, n)
		}
	case "prompt", "text", "input":
		r.request.TextBytes += int64(len(value))
	}
}

// fieldHead reads a field's headers. A file whose type nobody states is audio: forms are for transcription first.
func fieldHead(head []byte) (name string, isFile bool, m medium) {
	m = isAudio
	for line := range strings.SplitSeq(string(head), "\r\n") {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch strings.ToLower(key) {
		case "content-disposition":
			_, parameters, err := mime.ParseMediaType(value)
			if err != nil {
				continue
			}
			name = parameters["name"]
			_, isFile = parameters["filename"]
		case "content-type":
			if value = strings.ToLower(value); value != "application/octet-stream" {
				m = typeOf(value)
			}
		}
	}
	return name, isFile, m
}
