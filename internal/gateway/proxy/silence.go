// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// mostSilence is how long a provider may send, and take, nothing at all. Providers answer the longest calls in less; a caller
// without a timeout of its own would else keep its reservation and its slot for as long as the provider's connection lives.
const mostSilence = 30 * time.Minute

var errSilent = errors.New("it was silent for half an hour")

// silence cuts an exchange with a provider in which nothing moves.
type silence struct {
	timer  *time.Timer
	cancel context.CancelCauseFunc
}

// watchSilence begins with the send, and gives the request a context that ends with the provider's patience.
func watchSilence(out *http.Request) (*http.Request, *silence) {
	ctx, cancel := context.WithCancelCause(out.Context())
	s := &silence{cancel: cancel, timer: time.AfterFunc(mostSilence, func() { cancel(errSilent) })}
	out = out.WithContext(ctx)
	if out.GetBody == nil && out.Body != nil && out.Body != http.NoBody {
		out.Body = &heard{out.Body, s, false} // streams through, for as long as its sender takes
	}
	return out, s
}

func (s *silence) end() {
	s.timer.Stop()
	s.cancel(nil)
}

// heard is a body whose bytes show that the exchange moves. The one of an answer is the exchange's end.
type heard struct {
	io.ReadCloser
	silence *silence
	last    bool
}

// Read implements io.Reader.
func (h *heard) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	if n > 0 && h.silence.timer.Stop() { // one that has ended stays so
		h.silence.timer.Reset(mostSilence)
	}
	return n, err
}

// Close implements io.Closer.
func (h *heard) Close() error {
	err := h.ReadCloser.Close()
	if h.last {
		h.silence.end()
	}
	return err
}
