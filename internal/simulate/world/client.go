// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"net/http"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// Client is what stands between the streams and their providers: Headgate's gateways, or what an app does without
// them. It sends by World.Send, waits by World.After, and ends every call that it was offered exactly once by
// World.End. It may use nothing else: no clock, no chance but World.Chance.
type Client interface {
	// Offer gives it a call, which arrives now. A call that an SDK resubmits is offered again, after it was ended.
	Offer(c *Call)
}

// Governed is a client that events of the workload concern beside the provider's. Others ignore them.
type Governed interface {
	// Edit changes the amount of the policy's limits of a name.
	Edit(limit string, amount int64)
	// Crash ends a gateway with all that it knows: calls that it had are Failed with ReasonCrash. Another takes its
	// place at once.
	Crash(gateway int)
	// Scale changes how many gateways there are.
	Scale(gateways int)
	// Partition cuts the gateways off from the coordinator, or ends that.
	Partition(cut bool)
	// Sample tells what waits in which lane, for the curves: each is called at an even pace.
	Sample(queue func(route, lane string, waiting int))
	// Finish adds what only the client knows to the result.
	Finish(into *Findings)
}

// Maker makes the client of a world, before anything happens.
type Maker func(w *World) Client

// Call is one call of a stream. What is exported is drawn once and the same whatever the client; the client must not
// change it.
type Call struct {
	// Stream is the index in the workload.
	Stream int
	// Tenant, Route, Lane (what the stream asks for, may be empty) and Model are the stream's.
	Tenant, Route, Lane, Model string
	// Gateway is which of the gateways it comes to.
	Gateway int
	// Arrival is when this offer came, First when the first one did: an SDK's resubmission has a new Arrival.
	Arrival, First time.Time
	// Patience is how long the caller waits for the first content from Arrival on; 0 means it states nothing.
	Patience time.Duration
	// Input is the true size, Estimate what Headgate would estimate.
	Input, Estimate float64
	// Output is what the provider will produce; MaxTokens what the request allows, 0 if it states nothing.
	Output, MaxTokens float64
	// CallTime is how long the provider takes over it.
	CallTime time.Duration
	// Streaming answers begin after a tenth of CallTime, others come at its end.
	Streaming bool
	// LeavesAfter is the part of CallTime after which the caller hangs up; 1 or more is never.
	LeavesAfter float64

	// Client is the client's own.
	Client any

	state callState
}

// Deadline is the end of the caller's patience; zero if it states none.
func (c *Call) Deadline() time.Time {
	if c.Patience <= 0 {
		return time.Time{}
	}
	return c.Arrival.Add(c.Patience)
}

// Listener hears what becomes of one send. All are called in order, never within Send itself.
type Listener interface {
	// Headers comes once for each send that is answered at all: the status and headers of any answer, and the body of
	// a refusal.
	Headers(a *Answer)
	// Progress tells the output so far of a streamed success, a few times.
	Progress(output float64)
	// Done ends a success, and nothing but a success.
	Done(a *Answer)
}

// Answer is a provider's answer.
type Answer struct {
	// Status is 200, 429 or 529.
	Status int
	Header http.Header
	Body   []byte
	// RetryAfter is what the headers ask for, as an SDK reads it; valid if Waits.
	RetryAfter time.Duration
	Waits      bool
	// Sent is when the request left.
	Sent time.Time

	// Usage is what a success was billed, at Done.
	Usage dialect.Usage
	// HungUp: the caller left before the end, at Done. The client ends the call as Failed with ReasonHungUp.
	HungUp bool
}

// Kind is what became of an offer.
type Kind uint8

// The kinds of outcomes.
const (
	Succeeded Kind = iota
	// Declined was refused by the client itself.
	Declined
	// Deferred was taken in to be made later: Reason says why. A second End with Succeeded or Failed tells when it was.
	Deferred
	// Failed was given the provider's failure.
	Failed
)

// Reasons of failures beside a status; those of refusals are internal/budget's and internal/policy/decide's.
const (
	ReasonHungUp    = "HungUp"
	ReasonCrash     = "GatewayCrashed"
	ReasonThrottled = "429"
	ReasonOverload  = "529"
	// ReasonLate is a caller that gave up, where nothing decides before.
	ReasonLate = "DeadlinePassed"
)

// Outcome ends an offer.
type Outcome struct {
	Kind   Kind
	Reason string
	// Final says that an SDK must not resubmit the call: x-should-retry: false. Without it an SDK with retries left
	// does so, after RetryAfter (0 means its own backoff).
	Final      bool
	RetryAfter time.Duration
}
