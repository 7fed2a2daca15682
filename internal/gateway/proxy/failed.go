// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// failureTime bounds the wait for the body of an error: its status alone says most of it.
const failureTime = 5 * time.Second

// giveBack puts what was held of a stream that failed back in front of the rest: where the call is not sent
// again, the failure is what the client gets, and nothing at all would look like an empty success.
func (r *relay) giveBack() {
	held := slices.Concat(r.held, r.closeMeter())
	r.resp.Body = &prefixed{Reader: io.MultiReader(bytes.NewReader(held), r.resp.Body), Closer: r.resp.Body}
	// What was injected may have been taken out.
	r.resp.Header.Del("Content-Length")
	r.resp.ContentLength = -1
}

// readFailure reads the beginning of an error's body, and puts it back in front of the rest. A body that
// breaks off or does not come ends where it is: the client has more from the status than from a broken
// connection.
func readFailure(resp *http.Response) []byte {
	body := resp.Body
	timer := time.AfterFunc(failureTime, func() { _ = body.Close() })
	raw, err := io.ReadAll(io.LimitReader(body, maxFailureBody))
	if !timer.Stop() || err != nil {
		resp.Body = &prefixed{Reader: bytes.NewReader(raw), Closer: body}
		resp.ContentLength = int64(len(raw))
		resp.Header.Set("Content-Length", strconv.Itoa(len(raw)))
		return raw
	}
	resp.Body = &prefixed{Reader: io.MultiReader(bytes.NewReader(raw), body), Closer: body}
	return raw
}
