// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// pingTime is how long a client may take for a ping: some bytes, which its connection has room for unless it takes nothing.
const pingTime = 5 * time.Second

// alive is the response to a client that reads a stream and hears something while its call waits. It begins with the first
// ping: status 200 and an event stream. What the call answers after that goes on in the same response where it is an event
// stream, too, as its first bytes tell, and else is held, to become an event of its end; an answer before is what it is.
//
// Its call writes to it like to any other response, from one goroutine; pings are a timer's.
type alive struct {
	w     http.ResponseWriter
	rc    *http.ResponseController
	ping  []byte
	every time.Duration
	// leave ends the call of a client that takes no ping.
	leave context.CancelCauseFunc
	// header is what the call says: the client's, while nothing was sent.
	header http.Header

	// due is when silence ends that has lasted since the call came.
	due time.Time
	// state is one of those below, so that a call which waits no more knows for good whether its response has begun.
	state atomic.Int32

	mu    sync.Mutex
	timer *time.Timer
	// answered: the call has begun its answer, and no ping may come any more.
	answered bool
	// course is what becomes of it behind pings, and typed says that it is called an event stream.
	course course
	typed  bool
	ended  bool
	status int
	// body is what is held of it.
	body []byte
}

// The states of the response. It begins only while its call waits in a queue, and then for good.
const (
	aliveResting int32 = iota
	aliveWaiting
	aliveBegun
)

func newAlive(w http.ResponseWriter, ping []byte, since time.Time, every time.Duration, leave context.CancelCauseFunc) *alive {
	return &alive{
		w: w, rc: http.NewResponseController(w), ping: ping, every: every, leave: leave, header: http.Header{}, due: since.Add(every),
	}
}

// wait is called when the call begins to wait in a queue. Where the provider took so long to refuse it that silence has lasted
// long enough by then, it ends at once.
func (a *alive) wait(now time.Time) {
	if a.hasBegun() {
		return // pings go on until there is an answer, also while the provider is asked
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.state.Store(aliveWaiting)
	if a.timer == nil {
		a.timer = time.AfterFunc(a.due.Sub(now), a.tick)
		return
	}
	a.timer.Reset(a.due.Sub(now))
}

// rest is called when it waits no more: where the response has not begun by then, no ping begins it until the next wait. It
// takes no lock: a client that is slow to take a ping must not keep a call that was let go.
func (a *alive) rest() {
	if a == nil {
		return
	}
	if a.state.CompareAndSwap(aliveWaiting, aliveResting) {
		a.timer.Stop()
	}
}

func (a *alive) hasBegun() bool { return a.state.Load() == aliveBegun }

// tick is the timer's.
func (a *alive) tick() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.answered || a.ended {
		return
	}
	if a.state.CompareAndSwap(aliveWaiting, aliveBegun) {
		a.beginLocked()
	} else if !a.hasBegun() {
		return
	}
	if err := a.sendLocked(a.ping, pingTime); err != nil {
		a.leave(err)
		return
	}
	_ = a.rc.SetWriteDeadline(time.Time{}) // what comes next may come long after
	a.timer.Reset(a.every)
}

// beginLocked says what is known of the answer, as providers say it of their streams.
func (a *alive) beginLocked() {
	h := a.w.Header()
	h.Set("Content-Type", eventStream+"; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no") // some proxies hold back what they are not told to pass
	a.w.WriteHeader(http.StatusOK)
}

// sendLocked writes and flushes what is small, within a time.
func (a *alive) sendLocked(p []byte, within time.Duration) error {
	_ = a.rc.SetWriteDeadline(time.Now().Add(within))
	_, err := a.w.Write(p)
	if err == nil {
		err = a.rc.Flush()
	}
	return err
}

// Header implements http.ResponseWriter.
func (a *alive) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter. It ends the pings.
func (a *alive) WriteHeader(status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.answered {
		return
	}
	a.answered, a.status = true, status
	a.timer.Stop()
	if !a.hasBegun() {
		maps.Copy(a.w.Header(), a.header)
		a.w.WriteHeader(status)
		return
	}
	a.course, a.typed = courseOf(status, a.header)
}

// Write implements http.ResponseWriter.
func (a *alive) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if out := a.takes(p); len(out) > 0 {
		if _, err := a.w.Write(out); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// FlushError is for http.ResponseController.
func (a *alive) FlushError() error {
	a.mu.Lock()
	held := a.course == isHeld
	a.mu.Unlock()
	if held {
		return nil
	}
	return a.rc.Flush()
}

// tells says that the client will hear of the answer's end by an event, whatever that end is.
func (a *alive) tells() bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.tellsLocked()
}

func (a *alive) tellsLocked() bool { return a.hasBegun() && (a.course != goesOn || !a.answered) }

// Unwrap is for http.ResponseController.
func (a *alive) Unwrap() http.ResponseWriter { return a.w }

// end is called once, when the call has. An answer that was held, or none behind pings, is made an event of; that has
// status 0.
func (a *alive) end(event func(status int, h http.Header, body []byte) []byte) (failed bool) {
	defer a.leave(nil)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	a.timer.Stop()
	if a.tellsLocked() {
		// Its limit is that of the response's end as well, behind which the server takes it away.
		_ = a.sendLocked(event(a.status, a.header, a.body), stallTime)
		return true
	}
	for name, values := range a.header {
		if strings.HasPrefix(name, http.TrailerPrefix) {
			a.w.Header()[name] = values
		}
	}
	return false
}
