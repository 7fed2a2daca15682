// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// reading reads the events that a framing finds.
type reading struct {
	tally
	shape *shape
	large *members
	// closing: the stream is over, and the event that comes may have been broken off.
	closing bool
}

// event reads one of them.
func (r *reading) event(name, data []byte) (usageChunk bool) {
	if r.closing && !gjson.ValidBytes(data) && !bytes.HasPrefix(data, done) {
		return false // half a number, or half a finish reason, is none
	}
	return r.shape.read(&r.tally, name, data)
}

// Large takes a piece of an event too large to be kept, as the framings' handlers do.
func (r *reading) Large(p []byte) {
	if r.large == nil {
		r.large = newMembers(r.shape.members)
	}
	r.large.Write(p)
}

// endLarge ends it. Its length says nothing about its tokens, for it may be an image, so it counts as one
// delta.
func (r *reading) endLarge(name []byte) {
	if r.large == nil || r.closing && !r.large.Complete() {
		return
	}
	deltas, failed := r.deltas, r.failed
	r.event(name, r.large.document())
	if r.large = nil; r.deltas == deltas && r.failed == failed {
		r.delta(0)
	}
}
