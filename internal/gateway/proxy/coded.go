// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// maxPlainRequest is how much is held of a request's body without its content coding; of more only the length is read.
const maxPlainRequest = 4 << 20

// oneCoded is held while a body in a content coding is read: a few kilobytes may stand for megabytes, and few clients code
// their requests at all.
var oneCoded sync.Mutex

// readRequest reads what a call may cost. A body in a content coding that providers undo is read without it, or it would
// cost next to nothing and be of no model; one in another coding costs its length.
func (c *call) readRequest(body []byte) dialect.Request {
	read := func(body []byte) dialect.Request {
		return c.cfg.dialect.ReadRequest(c.op, c.r.Header.Get("Content-Type"), body)
	}
	coding := encoding(c.r.Header)
	decode := decoderOf(coding)
	if decode == nil || coding == "br" && wideWindow(body) {
		return read(body)
	}
	oneCoded.Lock()
	defer oneCoded.Unlock()
	z, err := decode(bytes.NewReader(body))
	if err != nil {
		return read(body)
	}
	plain, err := io.ReadAll(io.LimitReader(z, maxPlainRequest))
	more, _ := io.CopyN(io.Discard, z, maxUncompressed-maxPlainRequest)
	if len(plain) == 0 && err != nil && !errors.Is(err, io.EOF) {
		return read(body)
	}
	req := read(plain)
	req.TextBytes += more
	return req
}
