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
	"sync"
	"unicode/utf8"

	"github.com/andybalholm/brotli"
)

const (
	// maxBody is how much of an error body is read, before decompression and after; real ones are below 4 KiB.
	maxBody = 64 << 10
	// maxCodings bounds the codings that were applied one after the other.
	maxCodings = 3
)

// Plain is a body without its content codings, of which at most the first 64 KiB; nil is one that cannot be read.
func Plain(h http.Header, body []byte) []byte { return plain(h, body) }

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
	var r io.Reader
	var err error
	switch coding {
	case "gzip", "x-gzip":
		r, err = gzip.NewReader(bytes.NewReader(body))
	case "br":
		if wideWindow(body) {
			return nil
		}
		oneWindow.Lock()
		defer oneWindow.Unlock()
		r = brotli.NewReader(bytes.NewReader(body))
	case "deflate":
		r = inflater(body)
	default:
		return nil
	}
	var text []byte
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(r, maxBody)) // what came before an error may still do
	}
	if err != nil && utf8.Valid(body) {
		return body // it was undone before, and the header was left
	}
	return text
}

// oneWindow is held while brotli is undone: its window may take megabytes for a body of bytes, and errors come in
// crowds. Undoing what is read of a body takes less than a millisecond.
var oneWindow sync.Mutex

// wideWindow finds windows above four megabytes (RFC 7932, 9.1), which no server makes unless it is told to.
func wideWindow(body []byte) bool {
	const usual = 5 // 22 bits; the three bits behind a set one are what exceeds 17
	return len(body) > 0 && body[0]&1 == 1 && body[0]>>1&7 > usual
}

// inflater reads zlib, which the coding means, or the bare stream, which some servers send.
func inflater(body []byte) io.Reader {
	if z, err := zlib.NewReader(bytes.NewReader(body)); err == nil {
		return z
	}
	return flate.NewReader(bytes.NewReader(body))
}
