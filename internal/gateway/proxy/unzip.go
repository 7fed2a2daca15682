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
}

func (u *unzipped) Read(p []byte) (int, error) {
	if u.z == nil && u.err == nil {
		// It waits for the first bytes, which the headers must not.
		if u.z, u.err = gzip.NewReader(u.body); u.err == io.EOF { //nolint:errorlint // as it is, it says that nothing came
			u.err = io.ErrUnexpectedEOF
		}
	}
	if u.err != nil {
		return 0, u.err
	}
	return u.z.Read(p)
}

func (u *unzipped) Close() error { return u.body.Close() }
