// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/headgate-dev/headgate/internal/gateway/coding"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// maxPlainRequest is how much is held of a request's body without its content coding; of more only the length is read.
const maxPlainRequest = 4 << 20

// oneCoded is held while a body in a content coding is read: a few kilobytes may stand for megabytes, and few clients code
// their requests at all.
var oneCoded sync.Mutex

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
	oneCoded.Lock()
	defer oneCoded.Unlock()
	plain, more, whole := decoded(codings, body)
	c.unread = !whole
	if len(plain) == 0 && !whole {
		return read(body)
	}
	req := read(plain)
	req.TextBytes += more
	return req
}

// decoded is a body without its codings, up to maxPlainRequest, and how much more there is; whole says that it was read to
// its end.
func decoded(codings []string, body []byte) (plain []byte, more int64, whole bool) {
	z, err := coding.Open(codings, body)
	if err != nil {
		return nil, 0, false
	}
	defer func() { _ = z.Close() }()
	plain, err = io.ReadAll(io.LimitReader(z, maxPlainRequest))
	if err != nil {
		return plain, 0, false
	}
	more, err = io.CopyN(io.Discard, z, maxUncompressed-maxPlainRequest)
	return plain, more, more == 0 && errors.Is(err, io.EOF)
}

// countable answers a call whose model stands where the gateway cannot read it, on a route that limits models: it would
// pass all of these limits.
func (c *call) countable() bool {
	byModel := func(l plan.Limit) bool { return len(l.Models) > 0 }
	if !c.unread || c.req.Model != "" || c.cfg.plan.Observe || !slices.ContainsFunc(c.cfg.plan.Limits, byModel) {
		return true
	}
	c.lane = c.cfg.lanes[len(c.cfg.lanes)-1]
	c.lane.Refused(reasonUnread)
	c.outcome, c.reason = outcomeRefused, reasonUnread
	p := problem{http.StatusBadRequest, "headgate_model_unread", "headgate: " + c.cfg.who +
		": limits are by model, and the model cannot be read: state it within the first 32 MiB. " + c.notSent()}
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
