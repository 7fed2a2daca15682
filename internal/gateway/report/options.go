// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/headgate-dev/headgate/internal/wire"
)

// Source says what to report. Counters are cumulative since the process began.
type Source interface {
	Report(now time.Time) []*wire.RouteReport
}

// Plans takes plans.
type Plans interface {
	// Offer puts a plan in force; the error is reported, and must hold no secret.
	Offer(revision int64, json []byte) error
	// Revision is the plan's that is in force; 0 without one.
	Revision() int64
}

// Identity is the pod's.
type Identity struct {
	Namespace, PodName, PodUID string
}

// Options are what a client works with.
type Options struct {
	// URL is the coordinator's: https://host:port. Its host is also the name the certificate must have,
	// whichever replica is dialled.
	URL string
	// TokenFile holds the bearer token; it is replaced while the gateway runs.
	TokenFile string
	// CA returns PEM certificates that the coordinator's may be signed by, as known now.
	CA       func() []byte
	Identity Identity
	// Version and Contract are the gateway's.
	Version  string
	Contract string

	Source Source
	Plans  Plans
	// Failure says why a plan newer than the one in force is not, and its revision; 0 for none. It also knows of
	// plans that did not come by the stream. Nil: only what Offer returned is reported.
	Failure func() (message string, revision int64)
	// Draws draws on the budgets that are shared; nil draws nothing.
	Draws Draws
	// Incarnation numbers this start of the gateway; 0 draws one.
	Incarnation uint64
	Log         *slog.Logger

	// Dial reaches the coordinator, nil the usual way.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Times, each with its reason.
const (
	// jitter spreads the reports of gateways that started together.
	jitter = 0.1
	// promptGap bounds how often an acknowledgement hastens the next report.
	promptGap = 200 * time.Millisecond
	// backoffBase and backoffCap bound the wait before the next stream: full jitter, so that the gateways of a
	// coordinator that returns do not come at once. The first is well within a lease.
	backoffBase = 2 * time.Second
	backoffCap  = 15 * time.Second
	backoffMin  = 20 * time.Millisecond
	// backoffFirst is for the first: what is in hand lasts that long.
	backoffFirst = 500 * time.Millisecond
	// healthy is how long a stream lasts that says the coordinator is well.
	healthy = 5 * time.Second
	// maxRedirects in a row, before it is taken for a loop.
	maxRedirects = 3
	// dialTimeout is for the connection, and once more for the handshake: a coordinator to which thousands
	// return at once needs some seconds, and a handshake given up is a handshake wasted.
	dialTimeout = 8 * time.Second
	// drainTimeout is for the last report.
	drainTimeout = time.Second
)
