// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import "time"

// Kind is a bucket's shape.
type Kind uint8

// The kinds.
const (
	// Continuous is a token bucket: min(capacity, level + rate*dt).
	Continuous Kind = iota
	// Slots counts calls in flight; it does not refill, calls give their slot back.
	Slots
)

// Bucket configures one bucket.
type Bucket struct {
	// Name is unique within the scheduler and stable over Apply.
	Name string
	Kind Kind
	// Rate is in units per second, 0 for Slots.
	Rate float64
	// Capacity is in units.
	Capacity float64
	// Limit is the whole of which Capacity is this scheduler's share: only a call above it is impossible, and 0
	// lets nothing pass. Less than Capacity, also when unset, it is Capacity.
	Limit float64
	// Window is the amount's window. From an hour on the bucket is a cap: what does not fit is refused,
	// not queued.
	Window time.Duration
	// Fed: the level rises by Feed alone, and Rate is how fast that is expected to be: grants of a shared pool.
	Fed bool
	// Shares are by lane what each has of the bucket; nil gives all lanes their own Share. Calls of lanes that it does not
	// name only borrow. It is not changed once it is here.
	Shares *map[string]float64
	// Unheld: idle lanes keep nothing of it, because they keep it of another bucket that whoever takes of this one takes of too.
	Unheld bool
	// Unit is what the bucket counts. Where an edit changes it, another bucket of the name begins, with the part of its capacity
	// that is left or owed; calls under way end in the one from before.
	Unit string
	// StartEmpty gives a bucket that was never seen before the level 0 instead of its capacity.
	StartEmpty bool
	// Formerly names the bucket of the configuration before that this one is from now on: a limit that got another name. Empty is
	// the one of its own name; what was none before is of none.
	Formerly string
}

// Lane configures one lane. Index order is match order; the last lane is the default.
type Lane struct {
	Name string
	// Share is r: the sure part of every bucket's rate, 0 to 1; the lanes' sum is at most 1.
	Share float64
	// Priority orders lanes that borrow, and those that give way when queues are full: higher goes first.
	Priority int32
	// Weight divides what lanes of one priority borrow; 0 means 1.
	Weight float64
	// Hold is how much of its own rate an idle lane keeps: H = min(r·C, Hold·r·R). 0 means the default,
	// min(r·C/2, 10 s·r·R); below 0 is none.
	Hold time.Duration
	// MaxDepth is how many calls may wait; 0 means 1024, below 0 is none: a call goes at once or is refused.
	MaxDepth int
	MaxBytes int64
	MaxWait  time.Duration
	// Group names the group of the lane; lanes of none borrow on their own account.
	Group string
}

// Group is lanes of one owner, a tenant, among groups of others. Groups divide what is borrowed by max-min in proportion to
// their weights, whatever their lanes' priorities; within a group priorities and weights of lanes count.
type Group struct {
	Name string
	// Weight divides what groups borrow; 0 means 1.
	Weight float64
	// Unlent is the part of its lanes' shares, 0 to 1, that nobody outside of the group borrows. What of it the group does
	// not use and cannot keep is lost.
	Unlent float64
}

// Config is what a scheduler runs.
type Config struct {
	Buckets []Bucket
	Lanes   []Lane
	// Groups are those that lanes name; one that is not listed has weight 1 and lends all.
	Groups []Group
	// Margin is the part of its patience (from arrival to last start) that an accepted call must have to spare:
	// what costs more than estimated, and outside facts, would make a call late that was accepted without.
	Margin float64
	// MaxDepth and MaxBytes bound the calls that wait in all lanes together; 0 is no bound.
	MaxDepth int
	MaxBytes int64
	// Reprice, if set, is told of each call that waits, once the buckets are there and before it waits again: its owner may
	// change what it takes, for limits may count other calls than before. It leaves the scheduler alone.
	Reprice func(*Call)
	// Patient says that no call has a deadline, and nobody asks how long it will wait: nothing is predicted. It is for
	// schedulers of many lanes.
	Patient bool
}

// BucketID is a bucket's handle within its scheduler.
type BucketID int32

// Cost is what a call takes from one bucket.
type Cost struct {
	Bucket BucketID
	// Amount is the estimate that is reserved.
	Amount float64
	// AtLeast is the estimate's lower bound: only when it exceeds the limit is the call impossible. Above the
	// capacity this much is collected, what exceeds it is left to the settlement.
	AtLeast float64
}

// Reason says why a call was refused.
type Reason string

// The reasons.
const (
	ReasonNone         Reason = ""
	ReasonTooLarge     Reason = "TooLarge"      // can never fit
	ReasonDeadline     Reason = "Deadline"      // cannot start before its latest start
	ReasonQueueFull    Reason = "QueueFull"     // depth or bytes
	ReasonQueueExpired Reason = "QueueExpired"  // waited its time and did not start
	ReasonCapReached   Reason = "CapReached"    // a window of an hour or more is used up
	ReasonNothing      Reason = "NothingPasses" // amount 0
	ReasonDisplaced    Reason = "Displaced"     // made room for a call of a higher priority
	ReasonLanePaused   Reason = "LanePaused"    // the queues are nearly full and take only calls of the highest priority
)

// State is where a call stands.
type State uint8

// The states.
const (
	Idle State = iota // not submitted
	Queued
	Admitted // holds its reservation until Settle
	Refused
	Cancelled
	Settled
)
