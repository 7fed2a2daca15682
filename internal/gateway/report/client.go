// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"

	"github.com/headgate-dev/headgate/internal/wire"
)

// Client keeps one gateway connected.
type Client struct {
	opts        Options
	url         *url.URL
	incarnation uint64
	started     time.Time
	connected   atomic.Bool

	// Of the goroutine of Run:
	sequence  uint64
	planError string
	planErrAt int64
}

// New returns a client; the gateway should be on its safe share until Run says otherwise.
func New(opts Options) (*Client, error) {
	u, err := parseURL(opts.URL)
	if err != nil {
		return nil, err
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	c := &Client{opts: opts, url: u, incarnation: opts.Incarnation, started: time.Now()}
	for c.incarnation == 0 {
		c.incarnation = rand.Uint64()
	}
	return c, nil
}

// Connected says whether a stream is up and the coordinator has answered on it.
func (c *Client) Connected() bool { return c.connected.Load() }

// outcome is how a stream ended.
type outcome struct {
	err    error
	leader string // go there
	well   bool   // it lasted
}

// Run keeps a stream until ctx ends, then sends a last report, that of a gateway that leaves.
func (c *Client) Run(ctx context.Context) {
	target, redirects, failures := "", 0, 0
	for ctx.Err() == nil {
		end := c.session(ctx, target)
		if ctx.Err() != nil {
			return
		}
		if end.well {
			redirects, failures = 0, 0
		}
		if end.leader != "" && redirects < maxRedirects {
			target = end.leader
			redirects++
			continue
		}
		target, redirects = "", 0
		failures++
		wait := backoff(failures)
		c.opts.Log.Info("disconnected from the coordinator", "error", end.err, "retryIn", wait)
		if !sleep(ctx, wait) {
			return
		}
	}
}

// session runs one stream.
func (c *Client) session(ctx context.Context, target string) outcome {
	token, err := readToken(c.opts.TokenFile)
	if err != nil {
		return outcome{err: err}
	}
	transport, err := newTransport(c.opts, c.url, target)
	if err != nil {
		return outcome{err: err}
	}
	defer transport.CloseIdleConnections()
	// The stream outlives ctx by the last report.
	streamCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	client := wire.NewReportsClient(newHTTPClient(transport), c.url.String(),
		connect.WithReadMaxBytes(wire.MaxMessageBytes), connect.WithAcceptCompression("gzip", nil, nil))
	stream := client.Connect(streamCtx)
	stream.RequestHeader().Set("Authorization", "Bearer "+token)
	s := &session{client: c, stream: stream, in: make(chan *wire.Down), began: time.Now(), done: make(chan struct{}), cancel: cancel}
	go s.receive(streamCtx)
	end := s.run(ctx)
	cancel()
	<-s.done
	c.connected.Store(false)
	if end.err == nil {
		end.err = s.err
	}
	return end
}

// hello introduces the gateway.
func (c *Client) hello() *wire.Up {
	hello := &wire.Hello{
		Namespace: c.opts.Identity.Namespace, PodName: c.opts.Identity.PodName, PodUid: c.opts.Identity.PodUID,
		Incarnation: c.incarnation, Version: c.opts.Version, ContractVersion: c.opts.Contract,
		PlanRevision: c.opts.Plans.Revision(),
	}
	return &wire.Up{Message: &wire.Up_Hello{Hello: hello}}
}

// report is the next one.
func (c *Client) report(now time.Time, draining bool) *wire.Up {
	c.sequence++
	planError, planErrAt := c.failure()
	return &wire.Up{Message: &wire.Up_Report{Report: &wire.Report{
		Sequence: c.sequence, AcknowledgedRevision: c.opts.Plans.Revision(),
		PlanError: planError, PlanErrorRevision: planErrAt,
		Routes: c.routes(now), Draining: draining,
		UptimeMillis: uint64(max(now.Sub(c.started).Milliseconds(), 1)),
	}}}
}

// failure is why the newest plan of which anything is known is not in force.
func (c *Client) failure() (message string, revision int64) {
	if c.opts.Failure != nil {
		if message, revision = c.opts.Failure(); revision > c.planErrAt {
			return cut(message), revision
		}
	}
	return c.planError, c.planErrAt
}

func (c *Client) routes(now time.Time) []*wire.RouteReport {
	routes := c.opts.Source.Report(now)
	return routes[:min(len(routes), wire.MaxRoutes)]
}

// maxPlanError bounds what is reported of a plan that cannot be run.
const maxPlanError = 256

// offer puts a plan in force that is newer than the one that is.
func (c *Client) offer(update *wire.PlanUpdate) {
	if update.GetRevision() <= c.opts.Plans.Revision() {
		return
	}
	err := c.opts.Plans.Offer(update.GetRevision(), update.GetJson())
	if err == nil {
		c.planError, c.planErrAt = "", 0
		return
	}
	c.planError, c.planErrAt = cut(err.Error()), update.GetRevision()
	c.opts.Log.Error("cannot run the plan", "revision", update.GetRevision(), "error", err)
}
