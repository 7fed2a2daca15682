// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package failure

import (
	"bytes"
	"net/http"
	"unicode/utf8"

	"github.com/headgate-dev/headgate/internal/gateway/coding"
)

// maxBody is how much of an error body is read, before decompression and after; real ones are below 4 KiB.
const maxBody = 64 << 10

// Plain is a body without its content codings, of which at most the first 64 KiB; nil is one that cannot be read.
func Plain(h http.Header, body []byte) []byte { return plain(h, body) }

// plain undoes the content codings of a body, the last one first. What cannot be decompressed is no document.
func plain(h http.Header, body []byte) []byte {
	body = body[:min(len(body), maxBody)]
	for _, name := range coding.Names(h) {
		body = decode(name, body)
	}
	if bytes.HasPrefix(body, gzipMagic) {
		body = decode("gzip", body) // with no header that says so
	}
	return body
}

var gzipMagic = []byte{0x1f, 0x8b}

func decode(name string, body []byte) []byte {
	text, err := coding.Start([]string{name}, body, maxBody) // what came before an error may still do
	if err != nil && utf8.Valid(body) {
		return body // it was undone before, and the header was left
	}
	return text
}
