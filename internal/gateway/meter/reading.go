// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

// reading reads the events that a framing finds.
type reading struct {
	tally
	shape *shape
	large *members
}

// event reads one of them.
func (r *reading) event(name, data []byte) (usageChunk bool) {
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
	if r.large == nil {
		return
	}
	deltas, failed := r.deltas, r.failed
	r.event(name, r.large.document())
	if r.large = nil; r.deltas == deltas && r.failed == failed {
		r.delta(0)
	}
}
