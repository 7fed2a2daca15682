// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	meters "github.com/headgate-dev/headgate/internal/gateway/meter"
)

const (
	// peekBytes and peekTime bound what is held back of a stream until its first content.
	peekBytes = 16 << 10
	peekTime  = 200 * time.Millisecond
	// silentTime is how long the headers of a stream are held back of which no byte comes: some servers send them before
	// they begin to work, and a client may wait for headers less long than for what follows.
	silentTime = 5 * time.Second
	// stallTime is how long a client may take nothing before it is cut; resetStall how often the limit is
	// moved on.
	stallTime  = 60 * time.Second
	resetStall = 5 * time.Second

	streamBuffer = 2 << 10
	plainBuffer  = 32 << 10
)

var (
	streamBuffers = sync.Pool{New: func() any { b := make([]byte, streamBuffer); return &b }}
	plainBuffers  = sync.Pool{New: func() any { b := make([]byte, plainBuffer); return &b }}
)

// ending is how a relayed response came to its end.
type ending uint8

const (
	endedWell       ending = iota
	endedByFailure         // an error event, with nothing passed on yet
	endedByUpstream        // the provider broke off
	endedByClient          // the client left or stalled
)

// relay passes a response on as it comes, and meters it.
type relay struct {
	w      http.ResponseWriter
	rc     *http.ResponseController
	resp   *http.Response
	meter  dialect.Meter
	stream bool
	// guarded relays have a limit on a client that takes nothing; short plain bodies need none.
	guarded bool
	// mustEnd streams say themselves when they are over; lenient ones only if their content is known, and of those that are
	// bracketed only objects and arrays do: a bare value, or nothing, says nothing of its end.
	mustEnd, lenient, bracketed bool
	// begun is told when the response begins: from then on the call cannot be sent again.
	begun func()
	// progress is told of output beyond the reservation; may be nil.
	progress func(output int64)

	// mu guards what follows while the peek's timer may commit; see peek.
	mu        sync.Mutex
	committed bool
	closed    bool
	held      []byte
	writeErr  error
	// metered: the meter was told the end.
	metered bool
	// document: what is held opens like an error.
	document bool
	// opening is the first byte that is no blank.
	opening byte

	remaining int64 // of a stated Content-Length; -1 if none
	stallAt   time.Time
	now       func() time.Time
}

// run relays the whole body. With hold it keeps back what comes before the first content, and of a document the first
// read, so that a failure inside a success can still be retried.
func (r *relay) run(opts relayOptions) ending {
	pool := &plainBuffers
	if r.stream {
		pool = &streamBuffers
	}
	buf, _ := pool.Get().(*[]byte)
	defer pool.Put(buf)
	r.remaining = r.resp.ContentLength
	switch {
	case opts.hold:
		if end, done := r.peek(*buf, silentTime); done {
			return end
		}
	case opts.document:
		if end, done := r.first(*buf); done {
			return end
		}
	default:
		r.commitLocked()
	}
	return r.copy(*buf)
}

// first relays the first read of a document, before which there is nothing to send: unless that is an error that says the
// provider does not serve the call now, with the status of a success. What opens like one is held until it is whole.
func (r *relay) first(buf []byte) (end ending, done bool) {
	n, err := r.resp.Body.Read(buf)
	r.count(n)
	out := r.measure(buf[:n])
	if is, may := opensError(buf[:n]); is || may {
		r.held = append(r.held, out...)
		if f, failed := r.meter.StreamFailure(); failed && notNow(f.Class) && is {
			return endedByFailure, true
		}
		if r.document = err == nil && !r.meter.Complete(); r.document {
			return r.peek(buf, peekTime)
		}
		out = nil // it is held
	}
	r.commitLocked()
	r.sendLocked(out)
	if end, done = r.over(err); done {
		return end, true
	}
	if n > 0 && r.remaining != 0 {
		r.flushLocked()
	}
	return endedWell, false
}

// notNow is what a call may be sent again for.
func notNow(class dialect.Class) bool {
	return class == dialect.ClassThrottle || class == dialect.ClassOverload
}

// errorOpenings are how documents begin that are errors and nothing else, without their blanks.
var errorOpenings = [...]string{`{"error":{`, `{"error":"`, `[{"error":{`, `{"type":"error"`, `{"object":"error"`}

// opensError says that a document begins like an error, or may as far as it has come: one that has content beside it was made,
// and is charged.
func opensError(p []byte) (is, may bool) {
	var head [24]byte // no opening is longer
	n := 0
	for _, c := range p[:min(len(p), 4*len(head))] {
		if n < len(head) && c > ' ' {
			head[n] = c
			n++
		}
	}
	for _, o := range errorOpenings {
		is = is || strings.HasPrefix(string(head[:n]), o)
		may = may || strings.HasPrefix(o, string(head[:n]))
	}
	return is, may
}

// contentSeen says that what came is more than may be given up for another send.
func (r *relay) contentSeen() bool {
	if !r.document {
		return r.meter.ContentSeen()
	}
	is, may := opensError(r.held)
	if f, failed := r.meter.StreamFailure(); failed {
		return !is || !notNow(f.Class)
	}
	return !is && !may || r.meter.Complete()
}

// peek reads until the first content, peekBytes or peekTime after the first byte, or until patience without any. Reading
// blocks, so the time is kept by a timer that commits what is held meanwhile.
func (r *relay) peek(buf []byte, patience time.Duration) (end ending, done bool) {
	first := len(r.held) == 0
	timer := time.AfterFunc(patience, r.commitHeld)
	defer func() {
		timer.Stop()
		r.mu.Lock()
		r.closed = true
		r.mu.Unlock()
	}()
	for {
		n, err := r.resp.Body.Read(buf)
		end, done, committed := r.peeked(buf[:n], err)
		if done || committed {
			return end, done
		}
		if first && n > 0 {
			first = false
			timer.Reset(peekTime)
		}
	}
}

// peeked takes in one read of the peek.
func (r *relay) peeked(p []byte, err error) (end ending, done, committed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count(len(p))
	out, short := r.cutShort(r.measure(p))
	if short {
		return endedByUpstream, true, r.committed
	}
	if !r.committed {
		r.held = append(r.held, out...)
		if errors.Is(err, io.EOF) {
			r.held = append(r.held, r.closeMeter()...) // the last event may lack its blank line
		}
		if _, failed := r.meter.StreamFailure(); failed && !r.contentSeen() {
			return endedByFailure, true, false
		}
		if err == nil && !r.contentSeen() && len(r.held) < peekBytes {
			return endedWell, false, false
		}
		if err != nil && !r.contentSeen() && (!errors.Is(err, io.EOF) || r.truncated()) {
			return endedByUpstream, true, false
		}
		r.commitLocked()
	} else {
		r.sendLocked(out)
	}
	if end, done := r.over(err); done {
		return end, true, true
	}
	r.flushLocked()
	return endedWell, false, true
}

// commitHeld is the peek's timer.
func (r *relay) commitHeld() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.committed || r.closed {
		return
	}
	r.commitLocked()
	r.flushLocked()
}

// commitLocked sends the status, the headers and what is held.
func (r *relay) commitLocked() {
	r.committed = true
	if r.begun != nil {
		r.begun()
	}
	r.w.WriteHeader(r.resp.StatusCode)
	if len(r.held) > 0 {
		r.sendLocked(r.held)
		r.held = nil
	}
}

// copy relays what follows the commit; the timer can no longer act, so no lock is needed.
func (r *relay) copy(buf []byte) ending {
	for {
		n, err := r.resp.Body.Read(buf)
		if n > 0 {
			r.count(n)
			out, short := r.cutShort(r.measure(buf[:n]))
			if short {
				return endedByUpstream
			}
			r.sendLocked(out)
			if r.progress != nil {
				r.progress(r.meter.OutputSoFar())
			}
		}
		if end, done := r.over(err); done {
			return end
		}
		// The last write of a body of known length needs no flush: returning sends it.
		if n > 0 && r.remaining != 0 {
			r.flushLocked()
		}
	}
}

// measure has the meter read what came, and returns what goes on.
func (r *relay) measure(p []byte) []byte {
	if r.opening == 0 {
		if rest := bytes.TrimLeft(p, " \t\r\n\ufeff"); len(rest) > 0 {
			r.opening = rest[0]
		}
	}
	return r.meter.Write(p)
}

func (r *relay) count(n int) {
	if r.remaining > 0 {
		r.remaining -= int64(n)
	}
}

// cutShort finds a stream that is at the end of its stated length without having said that it is over. Its last bytes
// must stay: with them the client would have all that it was told to expect. out is what goes on otherwise.
func (r *relay) cutShort(passed []byte) (out []byte, short bool) {
	if r.remaining != 0 || !r.mustEnd && !meters.FoundEvents(r.meter) {
		return passed, false
	}
	out = append(bytes.Clone(passed), r.closeMeter()...)
	return out, r.truncated()
}

// over says whether the relay is at its end, and sends what the meter still holds.
func (r *relay) over(err error) (ending, bool) {
	switch {
	case r.writeErr != nil:
		return endedByClient, true
	case err == nil:
		return endedWell, false
	case !errors.Is(err, io.EOF):
		return endedByUpstream, true
	}
	r.sendLocked(r.closeMeter())
	if r.writeErr != nil {
		return endedByClient, true
	}
	if r.truncated() {
		return endedByUpstream, true
	}
	return endedWell, true
}

// closeMeter ends the meter, once, and returns what it still held.
func (r *relay) closeMeter() []byte {
	if r.metered {
		return nil
	}
	r.metered = true
	return r.meter.Close()
}

// truncated says that a stream was over before it said so.
func (r *relay) truncated() bool {
	found := meters.FoundEvents(r.meter)
	if !r.mustEnd && !found || r.meter.Complete() || r.lenient && !r.meter.ContentSeen() {
		return false
	}
	if !found && r.bracketed && r.opening != '{' && r.opening != '[' {
		return false
	}
	_, failed := r.meter.StreamFailure()
	return !failed
}

// sendLocked writes to the client; mu is held, or the peek is over.
func (r *relay) sendLocked(p []byte) {
	if len(p) == 0 || r.writeErr != nil {
		return
	}
	if r.guarded {
		if now := r.now(); now.Sub(r.stallAt) >= resetStall {
			r.stallAt = now
			_ = r.rc.SetWriteDeadline(now.Add(stallTime))
		}
	}
	_, r.writeErr = r.w.Write(p)
}

func (r *relay) flushLocked() {
	if r.writeErr == nil {
		r.writeErr = r.rc.Flush()
	}
}

// finish sends what the server still holds while the call is under way, and moves the write limit on for the end that the
// server writes behind it. Then the server takes the limit away: the connection goes on to its next call.
func (r *relay) finish() {
	if r.stallAt.IsZero() {
		return
	}
	r.flushLocked()
	_ = r.rc.SetWriteDeadline(r.now().Add(stallTime))
}
