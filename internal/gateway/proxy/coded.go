// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/headgate-dev/headgate/internal/gateway/coding"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// maxPlainRequest is how much is held of a request's body without its content coding; of more only the length is read.
const maxPlainRequest = 4 << 20

// readRequest reads what a call may cost. A body in a content coding that providers undo is read without it, or it would
// cost next to nothing and be of no model; what cannot be read so costs its length.
func (c *call) readRequest(body []byte) dialect.Request {
	read := func(body []byte) dialect.Request {
		return c.cfg.dialect.ReadRequest(c.op, c.r.Header.Get("Content-Type"), body)
	}
	codings := coding.Names(c.r.Header)
	if len(codings) == 0 {
		return read(body)
	}
	var req dialect.Request
	err := coding.Read(c.r.Context(), codings, body, true, func(r io.Reader) { req = c.readPlain(r, body, read) })
	if err != nil {
		c.unread = true
		req = read(body)
		req.TextBytes += beyond(err, len(body), 0)
	}
	return req
}

// readPlain reads what a call may cost whose body is read without its codings.
func (c *call) readPlain(r io.Reader, body []byte, read func([]byte) dialect.Request) dialect.Request {
	plain, more, err := decoded(r)
	c.unread = more > 0 || !errors.Is(err, io.EOF)
	more += beyond(err, len(body), int64(len(plain))+more)
	if len(plain) == 0 && c.unread {
		plain = body
	}
	req := read(plain)
	req.TextBytes += more
	return req
}

// decoded is a body up to maxPlainRequest, and how much more there is, up to maxUncompressed in all; the error is io.EOF where
// it was read to its end.
func decoded(r io.Reader) (plain []byte, more int64, err error) {
	plain, err = io.ReadAll(io.LimitReader(r, maxPlainRequest))
	if err == nil {
		more, err = io.CopyN(io.Discard, r, maxUncompressed-maxPlainRequest)
	}
	return plain, more, err
}

// beyond is what a body costs beside what was read of it: as much as any where it takes more work than it is worth, and its
// length where there is more of it than is read.
func beyond(err error, length int, read int64) int64 {
	switch {
	case errors.Is(err, coding.ErrBomb):
		return maxUncompressed - read
	case errors.Is(err, coding.ErrLarge):
		return int64(length) - coding.MaxCoded
	}
	return 0
}

// countable answers a call whose model stands where the gateway cannot read it, on a route that limits models: it would
// pass all of these limits. Of a client that left meanwhile nothing was read.
func (c *call) countable() bool {
	if c.unread && c.r.Context().Err() != nil {
		c.outcome = outcomeCancelled
		return false
	}
	byModel := func(l plan.Limit) bool { return len(l.Models) > 0 }
	if !c.unread || c.req.Model != "" || c.cfg.plan.Observe || !slices.ContainsFunc(c.cfg.plan.Limits, byModel) {
		return true
	}
	c.lane = c.figuresOf(len(c.cfg.lanes) - 1)
	c.lane.Refused(reasonUnread)
	c.outcome, c.reason = outcomeRefused, reasonUnread
	p := problem{http.StatusBadRequest, "headgate_model_unread", "headgate: " + c.cfg.who +
		": limits are by model, and the model cannot be read: state it within the first 64 KiB. " + c.notSent()}
	if len(coding.Names(c.r.Header)) > 0 {
		c.w.Header().Set("Accept-Encoding", acceptedCodings)
		p.status, p.message = http.StatusUnsupportedMediaType, "headgate: "+c.cfg.who+
			": limits are by model, and the model cannot be read in this content coding: send up to 4 MiB as "+acceptedCodings+", or none. "+c.notSent()
	}
	c.w.Header().Set(HeaderReason, reasonUnread)
	c.discard()
	c.status = p.status
	writeProblem(c.w, &p)
	return false
}

const (
	// reasonUnread is why a call is not sent whose model nobody knows.
	reasonUnread = "ModelUnread"
	// acceptedCodings are those that are read.
	acceptedCodings = "gzip, deflate, br, zstd"
)
