// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import "time"

// Call is one call's place in a scheduler. Its owner embeds it, fills the exported fields before Submit, and
// leaves it alone (no change, no copy) until it is refused, cancelled or settled; then it may be used again.
type Call struct {
	// Lane is the index into Config.Lanes; out of range means the default lane, the last one.
	Lane int
	// Costs is what the call takes. Buckets that are unknown, removed or evicted do not limit it.
	Costs []Cost
	// Arrival is when the call came; a retry keeps it. Zero means the time of Submit.
	Arrival time.Time
	// Deadline bounds the call's end; zero means none.
	Deadline time.Time
	// CallTime is what one attempt needs; the call must start this much before its deadline.
	CallTime time.Duration
	// Bytes is what the call keeps in memory while it waits.
	Bytes int64
	// NotBefore holds the call back until then; its place is kept.
	NotBefore time.Time
	// Granted calls were accepted elsewhere, by a pool that brought what they take: they are not judged again, and go as
	// soon as the levels suffice, whoever of this scheduler has collected what is there.
	Granted bool
	// Counted calls were submitted before as other ones: what they ask for is in Offered already.
	Counted bool
	// Owner leads from a decided call back to what embeds it.
	Owner any

	verdict Verdict
	lane    *lane
	node    *node
	// retried calls were accepted before: they need no margin any longer.
	retried bool
	// seq is the order of commitment, 0 for a call that was never first in its queue. A retry keeps it.
	seq    uint64
	holds  []hold
	inline [4]hold
}

// hold is what a call takes, or while it is live holds, from one bucket.
type hold struct {
	bucket *bucket
	amount float64
	// era is the bucket's count of outside facts when this was taken, see Lower.
	era uint32
}

// Verdict is what was decided about a call.
type Verdict struct {
	State  State
	Reason Reason
	// Bucket is the one that refused the call or that it waits for longest; NoBucket if none did.
	Bucket BucketID
	// Wait is the predicted wait of a queued call, and for a refused one the time until it would fit.
	Wait time.Duration
}

// NoBucket is no bucket's handle.
const NoBucket BucketID = -1

// Verdict returns the latest decision about the call.
func (c *Call) Verdict() Verdict { return c.verdict }

func (c *Call) live() bool { return c.verdict.State == Queued || c.verdict.State == Admitted }

// rank orders calls by commitment: those that were committed come first, in that order.
func (c *Call) rank() uint64 {
	if c.seq == 0 {
		return ^uint64(0)
	}
	return c.seq
}
