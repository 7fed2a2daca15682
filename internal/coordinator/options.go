// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"log/slog"
	"time"

	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/wire"
)

// Leadership says who leads.
type Leadership interface {
	// Leader returns the address (host:port) where the leader's coordinator is dialled, empty when nobody
	// leads, and whether this replica is it.
	Leader() (address string, self bool)
	// Epoch grows with each change of leader: the lease's transitions.
	Epoch() uint64
	// Before is the epoch of the leader before this one, 0 if that is not known.
	Before() uint64
	// First says that no leader was before this one, so that no gateway can hold anything of another.
	First() bool
	// Until is when another replica may lead: from then on nothing is granted. Zero is never.
	Until() time.Time
}

// Pods knows the pods of the cluster.
type Pods interface {
	// Labels returns a pod's labels; false when there is no such pod, or it has ended.
	Labels(pod figures.Pod) (map[string]string, bool)
	// Gateways returns a namespace's pods in which a gateway runs, or should.
	Gateways(namespace string) []figures.Pod
}

// Options are what a coordinator works with.
type Options struct {
	Reviewer   Reviewer
	Leadership Leadership
	Pods       Pods
	Figures    *figures.Store
	// States is where the next leader finds what this one granted; nil if there is none.
	States States
	// Ledger is what pools have in common; its zero times get the wire's.
	Ledger ledger.Options
	Log    *slog.Logger
	Bounds Bounds
}

// Bounds limit what gateways can cost; zero fields get their default.
type Bounds struct {
	// Streams of all namespaces, and of one.
	Streams          int
	NamespaceStreams int
	// Reviews at a time: TokenReviews that are waited for.
	Reviews int
}

// withDefaults fills in what is not said.
func (o Options) withDefaults() Options {
	o.Bounds = o.Bounds.withDefaults()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Figures == nil {
		o.Figures = figures.NewStore()
	}
	if o.Ledger.Interval == 0 {
		o.Ledger.Interval = wire.ReportInterval
	}
	if o.Ledger.TTL == 0 {
		o.Ledger.TTL = wire.LeaseTTL
	}
	return o
}

func (b Bounds) withDefaults() Bounds {
	fill := func(v *int, standard int) {
		if *v <= 0 {
			*v = standard
		}
	}
	fill(&b.Streams, 10_000)
	fill(&b.NamespaceStreams, 5_000)
	fill(&b.Reviews, 32)
	return b
}

// Times and counts that bound streams, each with its reason.
const (
	// tick is how often it is looked who leads: well within a report interval.
	tick = 100 * time.Millisecond
	// keepAlive is how often a stream says something and is looked after: a gateway that hears nothing gives it up.
	keepAlive = time.Second
	// helloTimeout is for the first message.
	helloTimeout = 10 * time.Second
	// reviewTimeout is for the wait for a turn and the TokenReview; gateways retry.
	reviewTimeout = 10 * time.Second
	// joinTimeout is for all that a gateway does between the review and its place among the streams, and for its answer if it gets
	// none: to wait for a leader, and to say hello.
	joinTimeout = parkTime + helloTimeout + 5*time.Second
	// silence ends a stream that carries no report.
	silence = 30 * time.Second
	// sendTimeout ends a stream whose gateway reads nothing.
	sendTimeout = 10 * time.Second
	// podCheck is how often a stream's pod is looked up.
	podCheck = 5 * time.Second
	// podGrace is how long a pod may be unknown to a cache that lags behind the TokenReview.
	podGrace = time.Minute
	// reportsPerSecond and reportBurst: one a second is due, some more with acknowledgements.
	reportsPerSecond = 5
	reportBurst      = 30
	// connectsPerSecond and connectBurst bound a pod that reconnects in a loop.
	connectsPerSecond = 0.5
	connectBurst      = 10
)
