// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/andybalholm/brotli"
)

// body undoes chunks and compression, and removes the headers that spoke of them. Programs that print a response
// have often undone them already and left the headers: what does not look like it is left as it is.
func body(h http.Header, text []byte) ([]byte, error) {
	if strings.Contains(strings.ToLower(h.Get("Transfer-Encoding")), "chunked") {
		if plain, ok := dechunk(text); ok {
			text = plain
		}
	}
	if length, err := strconv.Atoi(h.Get("Content-Length")); err == nil && length >= 0 && length < len(text) &&
		len(bytes.TrimSpace(text[length:])) == 0 {
		text = text[:length] // only the line end that pasting added is beyond it
	}
	text, err := decompress(strings.ToLower(strings.TrimSpace(h.Get("Content-Encoding"))), text)
	for _, name := range [...]string{"Content-Encoding", "Content-Length", "Transfer-Encoding"} {
		h.Del(name)
	}
	return text, err
}

// dechunk undoes the chunked coding; ok is false where the text is not chunked. A last chunk that is cut short or
// missing is no harm.
func dechunk(text []byte) (plain []byte, ok bool) {
	for {
		line, rest := cutLine(text)
		size, _, _ := strings.Cut(line, ";")
		n, err := strconv.ParseUint(strings.TrimSpace(size), 16, 31)
		if err != nil {
			return nil, false
		}
		if n == 0 {
			return plain, true
		}
		if uint64(len(rest)) <= n {
			return append(plain, rest...), true
		}
		plain = append(plain, rest[:n]...)
		text = bytes.TrimPrefix(bytes.TrimPrefix(rest[n:], []byte("\r")), []byte("\n"))
		if len(text) == 0 {
			return plain, true
		}
	}
}

func decompress(coding string, text []byte) ([]byte, error) {
	if len(text) == 0 || coding == "" || coding == "identity" {
		return text, nil
	}
	plain, err := expand(coding, text)
	switch {
	case err == nil && len(plain) > MaxInput:
		return nil, fmt.Errorf("the body has more than %d bytes when decompressed", MaxInput)
	case err == nil:
		return plain, nil
	case utf8.Valid(text):
		return text, nil // it was decompressed before
	case len(plain) > 0:
		return plain, nil // what came before the damage may still do
	}
	return nil, fmt.Errorf("the body is compressed (%s) and cannot be read: get it with curl -i --compressed", shown(coding))
}

func expand(coding string, text []byte) ([]byte, error) {
	source := bytes.NewReader(text)
	var in io.Reader
	var err error
	switch coding {
	case "gzip", "x-gzip":
		in, err = gzip.NewReader(source)
	case "br":
		in = brotli.NewReader(source)
	case "deflate":
		if in, err = zlib.NewReader(source); err != nil {
			in, err = flate.NewReader(bytes.NewReader(text)), nil // what some servers send instead
		}
	default:
		return nil, errors.New("unknown coding")
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(in, MaxInput+1))
}
