// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"container/list"
	"errors"
	"io"
	"net/http"
)

// maxRead is what is taken of a body at once, and so what may be there before it is counted.
const maxRead = 16 << 10

const tooMany = "too many bodies at once"

var errTooMany = errors.New(tooMany)

// body is one that is counted as it is read.
type body struct {
	io.ReadCloser
	from *allowance
	stop func()
	// length is what its sender says, or negative.
	length int64

	// What follows is the allowance's to look at. Of what was read so much is free, and the rest is held.
	free, read, held int64
	// at is its place among those that are not whole.
	at      *list.Element
	refused bool
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(len(p), maxRead)])
	if !b.from.hold(b, int64(n), err != nil || b.read+int64(n) == b.length) {
		return 0, errTooMany
	}
	return n, err
}

func (b *body) isRefused() bool {
	b.from.mu.Lock()
	defer b.from.mu.Unlock()
	return b.refused
}

// answer is 503 in the place of what a handler makes of a body that it could not read to its end. That would be the refusal of an
// object; a call that fails leaves the object to what the webhook's configuration says of failures.
type answer struct {
	http.ResponseWriter
	body *body
	told bool
}

func (a *answer) WriteHeader(status int) {
	if !a.replaced() {
		a.ResponseWriter.WriteHeader(status)
	}
}

func (a *answer) Write(p []byte) (int, error) {
	if a.replaced() {
		return len(p), nil
	}
	return a.ResponseWriter.Write(p)
}

func (a *answer) replaced() bool {
	if !a.body.isRefused() {
		return false
	}
	if !a.told {
		a.told = true
		http.Error(a.ResponseWriter, tooMany, http.StatusServiceUnavailable)
	}
	return true
}
