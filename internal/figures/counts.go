// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package figures

import "github.com/headgate-dev/headgate/internal/wire"

// The counts of a route, in the order of routeCounts.
const (
	calls = iota
	sends
	tooMany
	overloads
	unguided
	transient
	permanent
	quota
	stacked
	tooLarge
	estimated
	truncated
	failedOver
	deferred
	stackedBy      // and one for each of wire.SDKs
	numRouteCounts = stackedBy + len(wire.SDKs)
)

func routeCounts(r *wire.RouteReport) [numRouteCounts]uint64 {
	c := [numRouteCounts]uint64{
		calls:     r.GetCalls(),
		sends:     r.GetSends(),
		tooMany:   r.GetTooManyRequests(),
		overloads: r.GetOverloads(),
		unguided:  r.GetUnguided(),
		transient: r.GetTransientErrors(),
		permanent: r.GetPermanentErrors(),
		quota:     r.GetQuotaExhausted(),
		stacked:   r.GetStackedRetries(),
		tooLarge:  r.GetTooLarge(),
		estimated: r.GetEstimatedSettlements(),
		truncated: r.GetTruncatedStreams(),

		failedOver: r.GetFailedOver(),
		deferred:   r.GetDeferred(),
	}
	rest := r.GetStackedRetries()
	for i, sdk := range wire.SDKs {
		n := min(r.GetStackedBySdk()[sdk], rest)
		if sdk == wire.SDKOther {
			n = rest // also what a gateway that does not tell SDKs apart counts
		}
		c[stackedBy+i] = n
		rest -= n
	}
	return c
}

// The counts of a lane: four, then the waits' buckets and their sum, then refusals by reason.
const (
	laneOffered = iota
	laneSent
	laneCancelled
	laneWouldRefuse
	laneWaitMillis
	laneWaits
	numWaits      = len(wire.WaitBoundsMillis) + 1
	laneRefusals  = laneWaits + numWaits
	numLaneCounts = laneRefusals + numReasons
	numReasons    = 12
	ReasonOther   = "Other"
)

// reasons is the closed set of refusals; what else a gateway says is Other. Reports name them, metrics and
// status carry them.
var reasons = [numReasons]string{
	"Deadline", "QueueFull", "QueueExpired", "TooLarge", "CeilingExceeded", "QuotaExhausted",
	"CapReached", "NothingPasses", "Exhausted", "Displaced", "LanePaused", ReasonOther,
}

func laneCounts(l *wire.LaneReport) [numLaneCounts]float64 {
	var c [numLaneCounts]float64
	c[laneOffered] = amount(float64(l.GetOffered()))
	c[laneSent] = amount(float64(l.GetSent()))
	c[laneCancelled] = amount(float64(l.GetCancelled()))
	c[laneWouldRefuse] = amount(float64(l.GetWouldHaveRefused()))
	c[laneWaitMillis] = amount(float64(l.GetWaitTotalMillis()))
	for i, n := range bounded(l.GetWaitBuckets(), numWaits) {
		c[laneWaits+i] = amount(float64(n))
	}
	refused := l.GetRefused()
	known := 0.0
	for i, reason := range reasons[:numReasons-1] {
		c[laneRefusals+i] = amount(float64(refused[reason]))
		known += c[laneRefusals+i]
	}
	all := 0.0
	for _, n := range refused {
		all += amount(float64(n))
	}
	c[laneRefusals+numReasons-1] = max(all-known, 0)
	return c
}

// The counts of a model's tokens.
const (
	modelInput = iota
	modelOutput
	modelCachedRead
	modelCacheWrite
	numModelCounts
)

func modelCounts(m *wire.ModelTokens) [numModelCounts]float64 {
	return [...]float64{
		modelInput:      amount(float64(m.GetInput())),
		modelOutput:     amount(float64(m.GetOutput())),
		modelCachedRead: amount(float64(m.GetCachedRead())),
		modelCacheWrite: amount(float64(m.GetCacheWrite())),
	}
}
