// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// maxCosts bounds what one call is charged to: 16 limits, 4 mirrors, a hold.
const maxCosts = plan.MaxLimits + 5

// Account is what a provider meters apart: a credential and a model.
type Account struct {
	Fingerprint uint64
	Model       string
}

// Ticket is one call's way through a gate: its place in the queue, then its reservation. It must be
// released exactly once; everything else about it is guarded by its gate.
type Ticket struct {
	// Set by the caller before Enter.
	Account Account
	// Provider is where the call goes, which an edit of the route may leave meanwhile; none is where the route goes when it enters.
	Provider

	Lane     int
	Estimate Estimate
	Metered  bool
	Arrival  time.Time
	Deadline time.Time
	Bytes    int64
	// CallTime is what one attempt is expected to need.
	CallTime time.Duration
	// Sent is when the last send left, for reading what the provider reports back.
	Sent time.Time
	// Granted tickets were accepted by the pool that their limits are fed from: see budget.Call.
	Granted bool
	// Counted tickets are of calls that entered before, by this ticket or another: they are no further demand. Enter sets
	// it.
	Counted bool
	// Shadow tickets never wait and are never refused; their charges follow when they would have gone.
	Shadow bool
	// Place is what an owner of the gate keeps of the ticket that lets tickets wait elsewhere too.
	Place any

	gate *Gate
	// facts are the provider's.
	facts *facts.Facts
	call  budget.Call
	// parts stand beside call.Costs.
	parts []part
	// ready holds one element once a queued call is decided.
	ready chan struct{}
	// asks are the mirrors that it was let past.
	asks asks
	// charged is the output charged beyond the reservation.
	charged float64
	// late is what a shadow ticket still owes when it would have gone.
	late *Settlement
	held bool
	// send numbers the gate's sends.
	send uint64
}

// part says what a cost stands for.
type part struct {
	budget string
	limit  *limit // nil for the provider's
	mirror *mirror
	// passage is this send's part of the mirror's flow.
	passage passage
}

// part is t's part of a mirror, nil if it has none: it was admitted before the mirror was known.
func (t *Ticket) part(m *mirror) *part {
	for i := range t.parts {
		if t.parts[i].mirror == m {
			return &t.parts[i]
		}
	}
	return nil
}

// Kind is how a send ended, as far as charging is concerned.
type Kind uint8

// The kinds.
const (
	// Kept settles at the larger of what was seen and what was reserved: nobody knows what was billed.
	Kept Kind = iota
	// Billed settles at the usage reported.
	Billed
	// Rejected is a refusal by the provider: tokens are given back.
	Rejected
	// NotSent never reached the provider.
	NotSent
	// KeptBack was not to be sent yet: it waits on, and gives back all it took, as if it had waited before.
	KeptBack
)

// Settlement is what a send cost.
type Settlement struct {
	Kind  Kind
	Usage dialect.Usage
	// Seen is the output seen of a response that broke off.
	Seen int64
}

// Verdict is what a gate says about a call.
type Verdict struct {
	State  budget.State
	Reason budget.Reason
	// Limit is the limit that refused; AtProvider says that it is the provider's own, as learned.
	Limit      string
	AtProvider bool
	// Amount describes it: 400k/min.
	Amount string
	// Need is what the call would take of it.
	Need float64
	// Wait is the time until the call would fit.
	Wait time.Duration
}

// Ready is signalled when a queued call was decided.
func (t *Ticket) Ready() <-chan struct{} { return t.ready }

// Listen makes the channel of Ready, for an owner of the gate that is told of decisions (see Options.Decided) and passes
// them on. It is called before Enter.
func (t *Ticket) Listen() {
	if t.ready == nil {
		t.ready = make(chan struct{}, 1)
	}
}

// Hush takes back a signal that nobody has waited for.
func (t *Ticket) Hush() {
	if len(t.ready) > 0 {
		<-t.ready
	}
}

// Signal signals Ready.
func (t *Ticket) Signal() {
	select {
	case t.ready <- struct{}{}:
	default:
	}
}

// Exceeds says whether output goes so far beyond what was reserved and charged that Charge takes it in.
func (t *Ticket) Exceeds(output float64) bool { return t.exceeds(output) > 0 }

// exceeds is by how much; small steps are left to the settlement: a lock for each token would be dear.
func (t *Ticket) exceeds(output float64) float64 {
	more := output - t.Estimate.Output - t.charged
	if more < max(64, t.Estimate.Output/8) {
		return 0
	}
	return more
}
