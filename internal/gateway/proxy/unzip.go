// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"compress/gzip"
	"io"
	"net/http"
)

// unzip makes a stream plain that was compressed though nobody accepts that (see upstream.MeterableEncoding): the usage
// that was asked for must be taken out of it, and an overload be found before it passes on.
func unzip(resp *http.Response) {
	if coding := encoding(resp.Header); coding != "gzip" && coding != "x-gzip" || !streams(resp.Header) {
		return
	}
	resp.Body = &unzipped{body: resp.Body}
	resp.ContentLength = -1
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
}

// unzipped reads a compressed body as it comes.
type unzipped struct {
	body io.ReadCloser
	z    *gzip.Reader
	err  error
	// ended says that all of the body came.
	ended bool
}

func (u *unzipped) Read(p []byte) (int, error) {
	if u.z == nil && u.err == nil {
		// It waits for the first bytes, which the headers must not.
		if u.z, u.err = gzip.NewReader(below{u}); u.err == io.EOF { //nolint:errorlint // as it is, it says that nothing came
			u.err = io.ErrUnexpectedEOF
		}
	}
	if u.err != nil {
		return 0, u.err
	}
	n, err := u.z.Read(p)
	if err == io.ErrUnexpectedEOF && u.ended { //nolint:errorlint // as it is, it is the trailer that is missing
		// Some servers flush what they wrote, and end without gzip's own end: whether that is all, the events say.
		err = io.EOF
	}
	return n, err
}

// below is the body as it comes.
type below struct{ *unzipped }

func (c below) Read(p []byte) (int, error) {
	n, err := c.body.Read(p)
	c.ended = c.ended || err == io.EOF
	return n, err
}

func (u *unzipped) Close() error { return u.body.Close() }
