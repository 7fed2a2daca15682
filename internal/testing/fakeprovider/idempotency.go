// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"bytes"
	"maps"
	"net/http"
)

// VerdictReplayed is of calls whose idempotency key was answered before: they get the same answer, and cost nothing.
const VerdictReplayed = "Replayed"

// maxReplays bounds the answers that are kept; calls with further keys are all new.
const maxReplays = 20_000

// replay is the answer to the calls of one account and idempotency key.
type replay struct {
	// over is closed when the call has ended that is being answered; whole says that it got a success, to its end.
	over   chan struct{}
	whole  bool
	status int
	header http.Header
	body   bytes.Buffer
}

// replayed answers a call whose key was answered before, and says so. Of two with one key at once, the second waits
// what becomes of the first.
func (c *call) replayed() bool {
	key := c.r.Header.Get("Idempotency-Key")
	if key == "" || c.op.free {
		return false
	}
	for {
		first, mine := c.s.replayOf(KeyHash(c.key) + " " + key)
		if first == nil {
			return false
		}
		if mine {
			c.keeper = &keeper{ResponseWriter: c.w, replay: first}
			c.w = c.keeper
			return false
		}
		select {
		case <-first.over:
		case <-c.r.Context().Done():
			return true
		}
		if first.whole {
			c.writeReplay(first)
			return true
		}
	}
}

func (c *call) writeReplay(r *replay) {
	maps.Copy(c.w.Header(), r.header)
	c.note(func(a *Arrival) { a.Verdict, a.Status = VerdictReplayed, r.status })
	c.s.countStatus(r.status)
	c.w.WriteHeader(r.status)
	_, _ = c.w.Write(r.body.Bytes()) // the caller may have left
}

// replayOf returns the answer of a key, nil if no more are kept; mine says that the call is the one that makes it.
func (s *Server) replayOf(key string) (r *replay, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r = s.replays[key]
	if r != nil {
		select {
		case <-r.over:
			if !r.whole {
				r = nil // it came to nothing
			}
		default:
		}
	}
	if r != nil {
		return r, false
	}
	if len(s.replays) >= maxReplays {
		return nil, false
	}
	r = &replay{over: make(chan struct{})}
	s.replays[key] = r
	return r, true
}

// keeper passes an answer on and keeps it.
type keeper struct {
	http.ResponseWriter
	*replay
}

// Unwrap lets http.ResponseController find what lies beneath.
func (k *keeper) Unwrap() http.ResponseWriter { return k.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (k *keeper) WriteHeader(status int) {
	k.status, k.header = status, k.Header().Clone()
	k.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (k *keeper) Write(p []byte) (int, error) {
	k.body.Write(p)
	return k.ResponseWriter.Write(p)
}

// keep ends the call's part in its key's answer.
func (c *call) keep() {
	if c.keeper == nil {
		return
	}
	c.keeper.whole = c.complete && c.keeper.status == http.StatusOK
	close(c.keeper.over)
}
