// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package deferred

import "time"

const (
	// maxTickets and maxBytes bound what one gateway keeps over all routes: the index is in memory, and the bodies share
	// the pod's volume with the last good plan.
	maxTickets = 10_000
	maxBytes   = 256 << 20
	// maxAnswer bounds one answer. Each call that is being made may hold as much in memory.
	maxAnswer = 8 << 20
	// maxDead bounds a route's dead letters; the oldest goes.
	maxDead = 100

	// maxMaking and maxMakingRoute bound the calls being made at once, in all and of one route: what was put off must
	// not come back as a burst. maxDelivering bounds deliveries.
	maxMaking      = 8
	maxMakingRoute = 4
	maxDelivering  = 4
	// maxInHand bounds the requests being made, in bytes; one alone may be larger.
	maxInHand = 32 << 20
	// maxUnwanted bounds the tickets that are yet to be removed from a store that does not answer.
	maxUnwanted = 1000

	// patience is how long a call without a caller waits in its lane's queue at most, beside the lane's own bound; then
	// it comes again.
	patience = 10 * time.Minute
	// pace is how long a route's calls stay away after one that admission refused.
	pace = time.Second
	// A call that was not sent comes again within lookAgain, whatever the predicted wait is: edits of a policy and the
	// end of a burst shorten it.
	lookAgain = time.Minute

	// The backoff between attempts that were sent, where the provider asks for no longer wait.
	backoffBase = time.Second
	backoffCap  = 5 * time.Minute
	// jitterShare of a wait that the provider asked for is added to it at most.
	jitterShare = 0.25

	// maxDeliveries bounds the attempts to deliver one answer: with the backoff, over about an hour.
	maxDeliveries = 16
	deliverBase   = 2 * time.Second
	deliverCap    = 10 * time.Minute

	// storeTimeout bounds one operation of the store, and saveTries how often an answer is saved that cost money.
	storeTimeout = 10 * time.Second
	// takeTimeout bounds the time a caller waits for its refusal because the store does not answer.
	takeTimeout = 2 * time.Second
	saveTries   = 3
	// tendEvery is how often the store is tended.
	tendEvery = 10 * time.Second
	// storeAgain is when a call comes again that the store did not give out.
	storeAgain = 5 * time.Second

	// defaultAttempts is for a route that defers no more, and still has calls.
	defaultAttempts = 10
)
