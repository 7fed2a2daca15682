// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"net"
	"net/http"
	"sync"
)

const (
	// maxBody is the most that the handlers read: two objects as large as the API server takes them, and some.
	maxBody = 7 << 20
	// maxBodies are held at once.
	maxBodies = 64 << 20
)

// allowance bounds the bytes of bodies that are held at once. An address is given as much as it leaves to others, so that one has
// half at most, another half of what is left, and there is always something for the API server's few kilobytes.
type allowance struct {
	mu   sync.Mutex
	left int64
	held map[string]int64
}

func newAllowance(total int64) *allowance { return &allowance{left: total, held: map[string]int64{}} }

// bound answers with 503 what there is no memory for, and 413 what is too large to be read, before any of it is read.
func (a *allowance) bound(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := r.ContentLength
		if n < 0 {
			n = maxBody
		}
		from := r.RemoteAddr
		if host, _, err := net.SplitHostPort(from); err == nil {
			from = host
		}
		switch {
		case n > maxBody:
			http.Error(w, "the body is too large", http.StatusRequestEntityTooLarge)
			return
		case !a.take(from, n):
			http.Error(w, "too many bodies at once", http.StatusServiceUnavailable)
			return
		}
		defer a.give(from, n)
		h.ServeHTTP(w, r)
	})
}

func (a *allowance) take(from string, n int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.held[from]+n > a.left-n {
		return false
	}
	a.left -= n
	a.held[from] += n
	return true
}

func (a *allowance) give(from string, n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left += n
	if a.held[from] -= n; a.held[from] <= 0 {
		delete(a.held, from)
	}
}
