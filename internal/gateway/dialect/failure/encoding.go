// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package failure

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
)

const (
	// maxBody is how much of an error body is read, before decompression and after; real ones are below 4 KiB.
	maxBody = 64 << 10
	// maxCodings bounds the codings that were applied one after the other.
	maxCodings = 3
)

// plain undoes the content codings of a body, the last one first. What cannot be decompressed is no document.
func plain(h http.Header, body []byte) []byte {
	body = body[:min(len(body), maxBody)]
	for _, coding := range codings(h) {
		body = decode(coding, body)
	}
	if bytes.HasPrefix(body, gzipMagic) {
		body = decode("gzip", body) // with no header that says so
	}
	return body
}

// codings are the names of the content codings in the order in which they are to be undone.
func codings(h http.Header) []string {
	var names []string
	for _, line := range h["Content-Encoding"] {
		for name := range strings.SplitSeq(line, ",") {
			if name = strings.ToLower(strings.TrimSpace(name)); name != "" && name != "identity" && len(names) < maxCodings {
				names = append(names, name)
			}
		}
	}
	slices.Reverse(names)
	return names
}

var gzipMagic = []byte{0x1f, 0x8b}

func decode(coding string, body []byte) []byte {
	switch coding {
	case "gzip", "x-gzip":
		if !bytes.HasPrefix(body, gzipMagic) {
			return body // undone before, but the header is still there
		}
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil
		}
		return readSome(z)
	case "br":
		return uncompressed(body, readSome(brotli.NewReader(bytes.NewReader(body))))
	case "deflate":
		return uncompressed(body, inflate(body))
	}
	return nil
}

// inflate reads zlib, which the coding's definition means, and the bare stream, which some servers send.
func inflate(body []byte) []byte {
	if z, err := zlib.NewReader(bytes.NewReader(body)); err == nil {
		return readSome(z)
	}
	return readSome(flate.NewReader(bytes.NewReader(body)))
}

// uncompressed is text, or the body itself where that is a document although a header says it is compressed.
func uncompressed(body, text []byte) []byte {
	if len(text) == 0 && holdsJSON(string(body[:min(len(body), 64)])) {
		return body
	}
	return text
}

// readSome reads a bounded beginning; what came before an error may still do.
func readSome(r io.Reader) []byte {
	text, _ := io.ReadAll(io.LimitReader(r, maxBody))
	return text
}
