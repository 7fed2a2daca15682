// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import "time"

// Constants of the mirrors; docs/design/mirrors.md says more of their reasons.
const (
	// guardStart is the part of a burst that a mirror stays inside of until it has learned how much it needs.
	guardStart = 0.05
	// guardLeast is kept whatever was learned: clocks and roundings are never exact.
	guardLeast = 0.005
	// guardSamples answers are needed before what was learned counts: with fewer the rarest are missing.
	guardSamples = 200
	// guardStep is by how much a guard must change, as a part of the burst, to be set anew: each edit of a bucket looks
	// at all that waits.
	guardStep = 0.005
	// sigmas of the errors of what is in flight are kept inside.
	sigmas = 3

	// jitterStart is how late a send is taken to arrive after others that left later, before it is learned. It is
	// learned from what answers take, which holds the provider's own time as well, so it is bounded.
	jitterStart = 250 * time.Millisecond
	jitterLeast = 50 * time.Millisecond
	jitterMost  = 500 * time.Millisecond
	// jitterDecay lets the largest of some thousand samples be forgotten: it stands for their 99.9th percentile.
	jitterDecay = 1e-3

	// errorWeight weighs a new error of an estimate: some fifty calls.
	errorWeight = 0.04

	// estimateError is how much of a call's cost its estimate may be wrong by: a refusal that finds no more missing says
	// nothing of the rate. Estimates of a model that was used before are rarely further off.
	estimateError = 0.1

	// slower keeps a mirror's refill inside the provider's, whose clock may run differently; reports correct it.
	slower = 0.998

	// maxGroups bounds the accounts that are mirrored; the one that was used longest ago makes room.
	maxGroups = 64
	// shortestReset is the least a reset must be for a rate to be computed from it.
	shortestReset = 500 * time.Millisecond
	// longestWindow is the longest a budget takes to refill, a month: what claims more is junk, and a rate
	// learned from it would shut the account for good.
	longestWindow = 31 * 24 * time.Hour
	// longestHold bounds what one refusal holds back of other calls: after it the provider is asked again.
	// Waits of weeks are seen, and accounts are raised before they are over.
	longestHold = time.Hour
	// askAgain is for how long nothing may be heard of a bucket before a call is let past what is known of it, and how often:
	// what is known may be junk by which no call fits for good, or a limit may have been raised.
	askAgain = time.Hour
	// holdRate is how fast calls follow the first after a wait that fits no bucket.
	holdRate = 20

	// outsidersWindow is what others' spending is measured over: long against the time that calls are in flight, whose
	// arrivals nobody knows exactly, short against how long people run a batch.
	outsidersWindow = 10 * time.Second
	// outsidersFlush is the least of a window that is taken when a refusal asks for it at once.
	outsidersFlush = 2 * time.Second
	// outsidersWeight weighs a new window: together with the median of three, others are followed in half a minute.
	outsidersWeight = 0.5
	// outsidersNoise is the part of the rate below which nobody is assumed: calls in flight at a window's ends look
	// like that.
	outsidersNoise = 0.05
	// outsidersMost bounds what is left to them, as a part of the rate: some must remain to be measured by.
	outsidersMost = 0.9
	// outsidersForget is how long an estimate holds without a new one.
	outsidersForget = time.Minute

	// cutFactor, cutStep and cutEvery are a refusal's cut of the effective rate and its way back: an unneeded cut costs
	// 15 % for a moment and is gone after 75 seconds.
	cutFactor = 0.85
	cutStep   = 0.02
	cutEvery  = 10 * time.Second
	// cutPercent of refusals within cutWindow cut it as well, from cutLeast refusals: one of few calls is no rate.
	cutPercent = 2
	cutLeast   = 3
	cutWindow  = 5 * time.Minute
	// floorLeast and floorMost bound how far it is cut: to what lanes have reserved, at least a quarter, so that the
	// account is asked often enough to find that it is well, and at most half, for lanes may have reserved all.
	floorLeast = 0.25
	floorMost  = 0.5

	// disagreementWeight weighs a new report in the figure of how far the mirror was off.
	disagreementWeight = 0.1

	// paceStep is by how much the rate must change, as a part of it, to be set anew.
	paceStep = 0.01
	// rounding is what sums of floats may be off by.
	rounding = 1e-9
	// largestCost keeps sums of absurd costs exact to a token.
	largestCost = 1e12

	// maxWaiting bounds the calls that wait on a route, in all lanes together: each holds a goroutine and a connection.
	// It is what one lane may have at most; beyond it the lowest priority gives way.
	maxWaiting = 10_000
)
