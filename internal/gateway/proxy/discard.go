// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"io"
	"net/http"
	"time"
)

const (
	// maxDiscard bounds what is read of a body that nobody wants: most clients look for an answer only when they have sent
	// all of theirs, and a connection closed before that takes it away.
	maxDiscard = 128 << 20
	// discardPause is how long its client may send nothing meanwhile, and discardTime how long all of it may take: where
	// client and gateway share a busy processor, a large body is on its way for long.
	discardPause = 5 * time.Second
	discardTime  = time.Minute
)

// discard reads on what is left of the request's body, before an answer that does not need it.
func (c *call) discard() {
	if c.body != nil && c.body.Replayable() {
		return
	}
	discardBody(c.w, c.r, c.body != nil, c.now)
}

// discardBody reads a request's body on, of which some was taken if begun. One that its client waits to be asked for is
// not on its way yet.
func discardBody(w http.ResponseWriter, r *http.Request, begun bool, now func() time.Time) {
	if r.ContentLength == 0 || !begun && r.Header.Get("Expect") != "" {
		return
	}
	rest := &unwanted{Reader: r.Body, rc: http.NewResponseController(w), now: now, end: now().Add(discardTime)}
	_, _ = io.CopyN(io.Discard, rest, maxDiscard)
}

// unwanted is the rest of a body, which is read for as long as it comes.
type unwanted struct {
	io.Reader
	rc  *http.ResponseController
	now func() time.Time
	// limit is when the client must have sent more, and end when all.
	limit, end time.Time
}

func (u *unwanted) Read(p []byte) (int, error) {
	if limit := u.now().Add(discardPause); limit.Sub(u.limit) >= discardPause/5 {
		u.limit = limit
		if limit.After(u.end) {
			limit = u.end
		}
		_ = u.rc.SetReadDeadline(limit)
	}
	return u.Reader.Read(p)
}
