// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coding

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"slices"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

var (
	errUnknown = errors.New("the content coding is not read")
	errWide    = errors.New("the window is too wide")
)

// maxWindow is what RFC 8878 has every reader of zstd take, and senders keep to.
const maxWindow = 8 << 20

// readers are the codings that are read, by their names.
var readers = map[string]func(r *bufio.Reader) (io.Reader, error){
	"gzip":    unzip,
	"deflate": inflate,
	"br":      unbrotli,
	"zstd":    unzstd,
}

// windowed says that a coding has a window of megabytes.
func windowed(name string) bool { return name == "br" || name == "zstd" }

// reader reads a body without its codings. It must be closed.
type reader struct {
	io.Reader

	closers []func()
}

// open begins to read a body without the codings that Names names, with no more effort than is allowed.
func open(names []string, body []byte, e *effort) (*reader, error) {
	if !Readable(names) {
		return nil, errUnknown
	}
	r := &reader{Reader: bytes.NewReader(body)}
	for _, name := range names {
		l := &layer{below: r.Reader, effort: e}
		decoder, err := readers[name](bufio.NewReader(l))
		if err != nil {
			r.close()
			return nil, e.errorOr(err)
		}
		r.Reader = &output{layer: l, decoder: decoder}
		if c, ok := decoder.(io.Closer); ok {
			r.closers = append(r.closers, func() { _ = c.Close() })
		}
	}
	return r, nil
}

func (r *reader) close() {
	for _, closer := range slices.Backward(r.closers) {
		closer()
	}
}

func unzip(r *bufio.Reader) (io.Reader, error) {
	return gzip.NewReader(r)
}

// inflate reads zlib, which the coding means, or the bare stream, which some servers send.
func inflate(r *bufio.Reader) (io.Reader, error) {
	const deflated, checked = 8, 31
	if head, err := r.Peek(2); err == nil && head[0]&0xf == deflated && (int(head[0])<<8|int(head[1]))%checked == 0 {
		return zlib.NewReader(r)
	}
	return flate.NewReader(r), nil
}

func unbrotli(r *bufio.Reader) (io.Reader, error) {
	// Windows above four megabytes (RFC 7932, 9.1) no server makes unless it is told to: of the first byte's three bits behind
	// a set one, 5 is 22 bits of window.
	if head, err := r.Peek(1); err == nil && head[0]&1 == 1 && head[0]>>1&7 > 5 {
		return nil, errWide
	}
	return brotli.NewReader(r), nil
}

func unzstd(r *bufio.Reader) (io.Reader, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	return z.IOReadCloser(), nil
}
