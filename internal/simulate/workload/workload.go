// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"math"
	"time"
)

// Workload is a file of kind Workload.
type Workload struct {
	Name string
	// Duration is how long calls may come and go; what came before Warmup is played and not counted.
	Duration, Warmup time.Duration
	// InitialLevel of every bucket is 0 to 1.
	InitialLevel float64
	Gateways     Gateways
	// Providers are in the order of their routes' names.
	Providers []Provider
	Streams   []Stream
	Events    []Event
	// Baselines are by name, in the file's order.
	Baselines []string
	// Expect is in the order of the paths.
	Expect []Expectation
}

// Sharing is how gateways share one account.
type Sharing string

// The ways of sharing.
const (
	// Pool grants from one pool what each needs.
	Pool Sharing = "Pool"
	// Divided gives each an equal part of every limit.
	Divided Sharing = "Divided"
)

// Gateways is the fleet.
type Gateways struct {
	Count int
	// Skew are the weights by which arrivals are spread; empty is evenly.
	Skew []float64
	// Latency and Jitter are of messages between a gateway and the coordinator, one way: Latency + U(0, Jitter).
	Latency, Jitter time.Duration
	// ClockDriftPPM is by how much the gateways' clocks run fast and slow: they lie evenly between -ClockDriftPPM and
	// +ClockDriftPPM; a single one runs fast.
	ClockDriftPPM float64
	Sharing       Sharing
}

// Provider is what one route's provider enforces.
type Provider struct {
	Route  string
	Limits []Limit
	// Charges is one of dialect.Charges; "" is what the route's dialect does.
	Charges string
	// ChargesRejected says whether a refused call costs a request; nil is what the dialect does.
	ChargesRejected *bool
	Headers         Headers
	// ClockSkew is how far its clock is ahead.
	ClockSkew time.Duration
	// Latency and Jitter are of the network to it, one way: Latency + U(0, Jitter).
	Latency, Jitter time.Duration
}

// Shape is how a bucket refills.
type Shape string

// The shapes.
const (
	Continuous Shape = "Continuous"
	// Fixed fills at the boundary of its window, and not in between.
	Fixed Shape = "Fixed"
)

// Limit is one true bucket.
type Limit struct {
	// Name is the budget's, with the window behind it where the provider has several of the budget.
	Name   string
	Budget string
	Amount float64
	Window time.Duration
	Burst  float64
	Shape  Shape
}

// Headers is what the provider tells.
type Headers struct {
	// Remaining says whether answers have limit, remaining and reset; RoundTo is the step of remaining tokens.
	Remaining bool
	RoundTo   float64
	// RetryAfter says whether a 429 has it, in whole seconds.
	RetryAfter bool
	// MissingPercent of the answers have none of it.
	MissingPercent float64
}

// Stream is calls of one kind.
type Stream struct {
	Name, Tenant, Route, Lane, Model, Path string
	Header                                 map[string]string
	Arrivals                               Arrivals
	// InputTokens and OutputTokens are drawn for each call; MaxTokens 0 states none.
	InputTokens, OutputTokens Distribution
	MaxTokens                 float64
	// CallTime is in seconds.
	CallTime Distribution
	// Deadline 0 leaves it to the policy.
	Deadline  time.Duration
	Streaming bool
	// DisconnectPercent of the callers hang up within the call's time.
	DisconnectPercent float64
	// EstimateErrorPercent is the standard deviation of the estimate from the true input.
	EstimateErrorPercent float64
	// SDKRetries is how often the caller's SDK offers a call again whose answer does not forbid it.
	SDKRetries int
}

// Arrivals is when calls come. Just one of Every, Count and PerMinute is set.
type Arrivals struct {
	// Every, from From on and before To.
	Every    time.Duration
	From, To time.Duration
	// Count of them at once at From.
	Count int
	// PerMinute come at random between From and To.
	PerMinute float64
}

// Distribution is a constant (Sigma 0) or a lognormal.
type Distribution struct {
	Median, Sigma float64
}

// Event is something that happens to the world. Just one of the pointers and strings is set.
type Event struct {
	At, Until time.Duration
	// Overload is the route that answers 529.
	Overload string
	// Scale is how many gateways there are from then on.
	Scale int
	Crash *Crash
	// Partition cuts gateways and coordinator.
	Partition bool
	Outsiders *Outsiders
	Edit      *Edit
}

// Crash ends a gateway, and again every Every until Until; Every 0 is once.
type Crash struct {
	Gateway      int
	Every, Until time.Duration
}

// Outsiders use the account beside Headgate.
type Outsiders struct {
	Route                                                       string
	InputTokensPerSecond, OutputTokensPerSecond, CallsPerSecond float64
}

// Edit changes the amount of the policy's limits of a name.
type Edit struct {
	Limit  string
	Amount int64
}

// Expectation is a path into the result and a condition.
type Expectation struct {
	Path, Operator string
	Value          float64
}

// At is the value for a draw from the standard normal distribution, within what a call can be.
func (d Distribution) At(z float64) float64 {
	if d.Sigma == 0 {
		return d.Median
	}
	return min(d.Median*math.Exp(d.Sigma*z), maxTokens)
}
