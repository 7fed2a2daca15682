// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"container/list"
	"net/http"
	"sync"
	"time"
)

const (
	// maxBody is the most that the handlers read: two objects as large as the API server takes them, and some.
	maxBody = 7 << 20
	// smallBody is more than nearly all calls of an API server have. So much of a body is read whatever others hold, of as many
	// calls as there are connections.
	smallBody = 64 << 10
	// maxBodies are held at once beyond that.
	maxBodies = 48 << 20
)

// allowance bounds the bytes of bodies that are held at once, by what was sent and not by what was announced. Whose they are is
// nobody's to know, since an API server may come from the same address as strangers: where there is no room for more, the body
// goes whose sender has been at it for longest. An API server takes milliseconds for one.
type allowance struct {
	mu sync.Mutex
	// calls are how many more may have a small body for nothing, and left is what the rest may hold.
	calls int
	left  int64
	// reading are the bodies that hold something and are not whole, in the order in which they began to.
	reading list.List
}

func newAllowance(total int64) *allowance { return &allowance{calls: maxConnections, left: total} }

// bound answers with 413 what is too large to be read, and with 503 what there was no memory for.
func (a *allowance) bound(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.ContentLength > maxBody:
			http.Error(w, "the body is too large", http.StatusRequestEntityTooLarge)
			return
		case r.ContentLength == 0:
			h.ServeHTTP(w, r)
			return
		}
		b := a.begin(func() { _ = http.NewResponseController(w).SetReadDeadline(past) })
		defer a.end(b)
		b.ReadCloser, b.length, r.Body = r.Body, r.ContentLength, b
		h.ServeHTTP(&answer{ResponseWriter: w, body: b}, r)
	})
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// begin takes in a body of which nothing is read yet; stop ends a Read of it that waits for its sender.
func (a *allowance) begin(stop func()) *body {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := &body{from: a, stop: stop}
	// Handlers whose connections were cut may be more for a moment.
	if a.calls--; a.calls >= 0 {
		b.free = smallBody
	}
	return b
}

// end lets go of a body; nothing of it is used any more.
func (a *allowance) end(b *body) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls++
	a.drop(b)
}

// hold counts n bytes more that were read, the last ones or not. It says no if there is no room, even without the others that
// are not whole, or if others took the room of what was read before.
func (a *allowance) hold(b *body, n int64, whole bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if b.refused {
		return false
	}
	b.read += n
	more := max(b.read-b.free, 0) - b.held
	if more > 0 && b.at == nil {
		b.at = a.reading.PushBack(b)
	}
	for a.left < more {
		victim := a.longest(b)
		a.refuse(victim)
		if victim == b {
			return false
		}
	}
	a.left -= more
	b.held += more
	if whole {
		a.leave(b)
	}
	return true
}

// longest is the body that has been read for longest, b itself if there is no other; mu is held.
func (a *allowance) longest(b *body) *body {
	for e := a.reading.Front(); e != nil; e = e.Next() {
		if other := e.Value.(*body); other != b { //nolint:forcetypeassert // nothing else is in it
			return other
		}
	}
	return b
}

// refuse ends the reading of a body, whose handler lets go of it then; mu is held.
func (a *allowance) refuse(b *body) {
	b.refused = true
	a.drop(b)
	b.stop()
}

func (a *allowance) drop(b *body) {
	a.leave(b)
	a.left += b.held
	b.held = 0
}

func (a *allowance) leave(b *body) {
	if b.at != nil {
		a.reading.Remove(b.at)
		b.at = nil
	}
}
