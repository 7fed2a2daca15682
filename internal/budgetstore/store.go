// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budgetstore

import (
	"context"
	"errors"
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
)

// Bounds of a request.
const (
	// MaxLines are budgets.
	MaxLines = 512
	// MaxVectors are large calls.
	MaxVectors = 16
	// MaxClaims are a line's.
	MaxClaims = pool.MaxClaims
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
	Vectors                  []Vector
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
	// Claims are by class what Want and Need are of; what they leave is nobody's in particular.
	Claims []Claim
	// Whole says that of slots no earlier incarnation of the drawer's has any beside those that are told here.
	Whole bool
}

// Claim is what a class needs of a budget. Classes of one name are one, whichever drawers have them.
type Claim struct {
	Class string
	// Share of the budget is the class's own, Weight divides what nobody claims, and Unlent of its own it does not lend. The
	// newest word counts.
	Share, Weight, Unlent float64
	// Lack is what small calls want to be granted now, Need how much they need in a second; of slots, how many are to be in
	// use.
	Lack, Need float64
}

// Vector is a large call, granted whole.
type Vector struct {
	// Class has it; Key names the lane whose it is, over all drawers.
	Class, Key string
	// Number counts the lane's large calls of the drawer: those that were granted before, as far as it has heard, and this one.
	Number uint64
	Parts  []Part
}

// Part is what a vector takes of the budget of a line, which is numbered from 0. Share of that is the lane's own.
type Part struct {
	Line         int
	Units, Share float64
}

// Answer is what the store says to a draw.
type Answer struct {
	Instance string
	Version  uint64
	Stamp    float64
	// Drawers are heard of at present.
	Drawers int
	// Bulks are by the request's vectors how many of their lanes' were granted so far.
	Bulks []uint64
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
	// Keep is how many slots the drawer may have, since others wait for theirs; below 0 there is no such bound.
	Keep float64
	// Claims are those of the request's line.
	Claims []GrantedClaim
}

// GrantedClaim is an answer's part about one claim.
type GrantedClaim struct {
	// Fair is what the class's small calls of this drawer may expect in a second, New what they were granted by this draw.
	Fair, New float64
}
