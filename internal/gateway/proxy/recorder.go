// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"errors"
	"maps"
	"net/http"
)

// errTooLong ends an answer that is larger than what may be kept.
var errTooLong = errors.New("the answer is too large to be kept")

// recorder takes the answer of a call that has no caller.
type recorder struct {
	header http.Header
	sent   http.Header // as they were when the answer began
	status int
	body   bytes.Buffer
	limit  int
	over   bool
}

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status, r.sent = status, maps.Clone(r.header)
	}
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	if r.body.Len()+len(p) > r.limit {
		r.over = true
		r.body.Reset()
		return 0, errTooLong
	}
	return r.body.Write(p)
}

// Flush implements http.Flusher: there is nobody to flush to.
func (r *recorder) Flush() {}
