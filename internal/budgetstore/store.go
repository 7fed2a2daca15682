// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budgetstore

import (
	"context"
	"errors"
	"time"
)

// Bounds of a request.
const (
	// MaxLines are budgets.
	MaxLines = 512
	// MaxVectors are large calls.
	MaxVectors = 16
	// MaxName bounds the names of drawers, accounts and budgets.
	MaxName = 512
)

// Store is what drawers share.
type Store interface {
	// Draw makes the draws, each atomic by itself, and returns what became of each in their order. A draw that fails may
	// have been made all the same.
	Draw(ctx context.Context, requests []*Request) []Result
	Close() error
}

// ErrRefused is a draw that the store understood and does not make.
var ErrRefused = errors.New("the budget store refuses the draw")

// Result is what became of a draw.
type Result struct {
	Answer *Answer
	Err    error
}

// Request is one draw of a drawer on one account. Its counters are cumulative since the drawer's incarnation began.
type Request struct {
	// Account names what is drawn on.
	Account string
	// Drawer is the same over restarts, Incarnation is not.
	Drawer, Incarnation string
	// Sequence grows with each draw of the incarnation on the account.
	Sequence uint64
	// Instance, Version and Stamp are of the newest answer; zero before the first.
	Instance string
	Version  uint64
	Stamp    float64
	// Elapsed is how long the incarnation has been running, by a clock that nobody sets.
	Elapsed time.Duration
	// Lease is how long the drawer goes on without its share from now on, 0 without a lease. Life is how long a lease
	// lasts; Held is how much longer may be spent what was in hand at its end, and Drain how long a slot may be in use then.
	Lease, Life, Held, Drain time.Duration
	Lines                    []Line
	// Bulks counts the large calls that were granted so far, as far as the drawer has heard; Vectors are the next ones.
	Bulks   uint64
	Vectors []Vector
	// Leaving says that the drawer ends: nothing of what it has is spent any longer.
	Leaving bool
}

// Line is a request's part about one budget.
type Line struct {
	Name  string
	Slots bool
	// Rate and Capacity are what the drawer takes the budget for: the least that any drawer states is in force.
	Rate, Capacity float64
	// Small is what a small call takes.
	Small float64
	// Got was received, Spent was spent, Returned was given back; Raised came into the drawer's hands without being
	// granted: refunds, and what its holders had before it. Got + Raised − Spent − Returned is in hand.
	Got, Spent, Returned, Raised float64
	// Want is up to which total small calls want to be granted, Need how much they need in a second.
	Want, Need float64
	// Safe is what the drawer's holders may spend in a second when they hear nothing, and Burst at once; Apart is the
	// part of that which those who hear nothing now may be spending.
	Safe, Burst, Apart float64
}

// Vector is a large call, granted whole.
type Vector struct {
	// Share is the part of the refill that is collected for it, ½ if 0.
	Share float64
	Parts []Part
}

// Part is what a vector takes of the budget of a line, which is numbered from 0.
type Part struct {
	Line  int
	Units float64
}

// Answer is what the store says to a draw.
type Answer struct {
	Instance string
	Version  uint64
	Stamp    float64
	// Drawers are heard of at present.
	Drawers int
	// Bulks counts the large calls granted so far.
	Bulks uint64
	// Recall asks to give back what is not needed at once: a large call of another drawer waits for it.
	Recall bool
	// Lines are in the request's order.
	Lines []Granted
}

// Granted is an answer's part about one budget.
type Granted struct {
	// Total was granted so far, as Line.Got counts.
	Total float64
	// Share is what the drawer may spend in a second when its lease has ended; of slots, how many.
	Share float64
	// Fair is what its small calls may expect in a second.
	Fair float64
	// Level is what nobody has, Outstanding what drawers have.
	Level, Outstanding float64
}
