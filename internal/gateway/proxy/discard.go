// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"container/list"
	"errors"
	"io"
	"net/http"
	"sync"
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

// maxDiscards are taken at once. They have their end soon, but for those whose clients trickle: beyond the bound the one that
// has been coming for longest is given up, and its connection closed.
const maxDiscards = 256

var errGivenUp = errors.New("the body is given up")

// discards are the bodies that nobody wants and that are on their way, in the order they began. The zero value is ready.
type discards struct {
	mu  sync.Mutex
	all list.List // of *unwanted
}

// discard reads on what is left of the request's body, before an answer that does not need it.
func (c *call) discard() {
	if c.body != nil && c.body.Replayable() {
		return
	}
	c.g.discards.take(c.w, c.r, c.body != nil, c.now)
}

// take reads a request's body on, of which some was taken if begun. One that its client waits to be asked for is not on
// its way yet.
func (d *discards) take(w http.ResponseWriter, r *http.Request, begun bool, now func() time.Time) {
	if r.ContentLength == 0 || !begun && r.Header.Get("Expect") != "" {
		return
	}
	rest := &unwanted{Reader: r.Body, rc: http.NewResponseController(w), now: now, end: now().Add(discardTime)}
	defer d.enter(rest)()
	_, _ = io.CopyN(io.Discard, rest, maxDiscard)
}

// enter counts a body, and gives the oldest up where they are too many; leave is to be called when it was taken.
func (d *discards) enter(u *unwanted) (leave func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.all.PushBack(u)
	if d.all.Len() > maxDiscards {
		oldest := d.all.Front()
		d.all.Remove(oldest)
		oldest.Value.(*unwanted).giveUp() //nolint:forcetypeassert // nothing else is in it
	}
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.all.Remove(at) // nothing if it was given up
	}
}

// unwanted is the rest of a body, which is read for as long as it comes.
type unwanted struct {
	io.Reader
	now func() time.Time
	// limit is when the client must have sent more, and end when all.
	limit, end time.Time

	mu      sync.Mutex
	rc      *http.ResponseController
	givenUp bool
}

func (u *unwanted) Read(p []byte) (int, error) {
	if err := u.extend(); err != nil {
		return 0, err
	}
	return u.Reader.Read(p)
}

// extend gives the client until the next pause, unless it was given up.
func (u *unwanted) extend() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.givenUp {
		return errGivenUp
	}
	if limit := u.now().Add(discardPause); limit.Sub(u.limit) >= discardPause/5 {
		u.limit = limit
		if limit.After(u.end) {
			limit = u.end
		}
		_ = u.rc.SetReadDeadline(limit)
	}
	return nil
}

// giveUp ends a Read that waits, and all to come; net/http then closes the connection behind the answer.
func (u *unwanted) giveUp() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.givenUp = true
	_ = u.rc.SetReadDeadline(time.Unix(1, 0))
}
