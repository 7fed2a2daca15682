// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/plan"
)

// limit is what is shared of one limit.
type limit struct {
	plan.Limit
	kind kind
	// caps refuse when they are used up, and are not waited for: windows of an hour and more.
	slots, caps bool
	// rate is all gateways' in a second, capacity what the pool can have at the most.
	rate, capacity float64
	// small is what a call takes at the most that is not granted as a whole.
	small float64
	safe  pool.HolderBudget

	// pocket is its place at the holder.
	pocket int
	// level is the gate's, as it was left.
	level float64
	// granted is by lane what of the holder's totals the gate was fed.
	granted []float64
	// drawn is what had been granted when the last draw was made, atOnce what a pool grants small calls of a lane at once.
	drawn, atOnce float64
	// expected is how fast it comes to small calls, told what it was with the last lease.
	expected, told float64
	seen           sight
	debt           debt
	// lacking is since when a cap has too little, though more was asked for; usedUp says that it has nothing more.
	// had is what there was at the last draw.
	lacking time.Time
	usedUp  bool
	had     float64
	// unoffered are calls that were decided aside: the gate has not counted them.
	unoffered float64
}

// capWindow is where a limit turns from a rate into a cap, as in package budget.
const capWindow = time.Hour

func newLimit(l plan.Limit, maxGateways int32, lanes int) limit {
	b := ledger.Budget(l, maxGateways)
	slots := l.Budget == plan.InFlight
	return limit{
		Limit: l, kind: kinds[l.Budget], slots: slots, caps: !slots && b.Window >= capWindow, rate: b.Rate, capacity: b.Capacity,
		small: smallOf(b), atOnce: max(horizon*b.Rate*interval.Seconds(), b.SmallCall), safe: ledger.Holder(l, maxGateways),
		granted: make([]float64, lanes), expected: b.Rate, told: b.Rate,
	}
}

// kind is what a limit counts.
type kind uint8

const (
	tokens kind = iota
	calls
	input
	output
)

var kinds = map[string]kind{plan.Requests: calls, plan.InFlight: calls, plan.InputTokens: input, plan.OutputTokens: output}

// cost is what a ticket takes of the limit.
func (l *limit) cost(t *admission.Ticket) float64 {
	switch {
	case len(l.Models) > 0 && !t.MayBeOf(l.Models):
		return 0
	case l.kind == calls:
		return 1
	case !t.Metered:
		return 0
	case l.kind == input:
		return t.Estimate.Input
	case l.kind == output:
		return t.Estimate.Output
	}
	return t.Estimate.Input + t.Estimate.Output
}

// atLeast is the least that a ticket takes.
func (l *limit) atLeast(t *admission.Ticket) float64 {
	if l.kind == input || l.kind == tokens {
		return min(l.cost(t), t.Estimate.InputAtLeast)
	}
	return 0
}

// until is how long it takes for so much to come.
func (l *limit) until(units float64) time.Duration {
	if l.rate <= 0 {
		return 0
	}
	return time.Duration(min(units/l.rate, endless) * float64(time.Second))
}

// described is the limit as refusals name it; who is refused by a safe share is told so.
func (l *limit) described(safe bool) string {
	window := time.Duration(l.WindowSeconds) * time.Second
	whole := admission.Described(float64(l.Amount), window)
	if !safe {
		return whole
	}
	return whole + ", safe share " + admission.Described(l.safe.SafeRate*window.Seconds(), window) + ": no coordinator"
}
