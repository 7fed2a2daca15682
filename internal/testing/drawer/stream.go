// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package drawer

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/headgate-dev/headgate/internal/budget/pool"
	"github.com/headgate-dev/headgate/internal/wire"
)

type client = connect.BidiStreamForClient[wire.Up, wire.Down]

// Run keeps a stream until ctx ends, then says goodbye.
func (d *Drawer) Run(ctx context.Context) {
	var apart sync.WaitGroup
	defer apart.Wait()
	apart.Go(func() { d.alone(ctx) })
	leader := ""
	for ctx.Err() == nil {
		if leader = d.session(ctx, leader); leader == "" && !pause(ctx, time.Duration(rand.N(int64(time.Second)))) {
			return
		}
	}
}

// alone goes on with calls while no stream does it.
func (d *Drawer) alone(ctx context.Context) {
	for pause(ctx, 200*time.Millisecond) {
		d.mu.Lock()
		if !d.connected {
			d.spend(time.Now())
		}
		connected := d.connected
		d.mu.Unlock()
		if connected && !pause(ctx, time.Second) {
			return
		}
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

func (d *Drawer) transport(leader string) *http.Transport {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(d.opts.CA)
	host := ""
	if u, err := url.Parse(d.opts.URL); err == nil {
		host = u.Hostname()
	}
	dial := d.opts.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
	}
	protocols := &http.Protocols{}
	protocols.SetHTTP2(true)
	return &http.Transport{
		Protocols: protocols, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: roots, ServerName: host},
		TLSHandshakeTimeout: 30 * time.Second,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if leader != "" {
				address = leader
			}
			return dial(ctx, network, address)
		},
	}
}

// session is one stream; it returns where the leader is, if it was told.
func (d *Drawer) session(ctx context.Context, leader string) (next string) {
	transport := d.transport(leader)
	defer transport.CloseIdleConnections()
	streaming, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stream := wire.NewReportsClient(&http.Client{Transport: transport}, d.opts.URL,
		connect.WithReadMaxBytes(wire.MaxMessageBytes), connect.WithAcceptCompression("gzip", nil, nil)).Connect(streaming)
	stream.RequestHeader().Set("Authorization", "Bearer "+d.opts.Token)
	if stream.Send(d.hello()) != nil {
		cancel()
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		next = d.receive(stream)
	}()
	d.connect(true)
	d.send(ctx, stream, ended)
	d.connect(false)
	select {
	case <-ended:
	case <-time.After(time.Second): // for the goodbye
		cancel()
	}
	cancel()
	<-ended
	return next
}

func (d *Drawer) connect(yes bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.connected = yes
}

func (d *Drawer) hello() *wire.Up {
	return &wire.Up{Message: &wire.Up_Hello{Hello: &wire.Hello{
		Namespace: d.opts.Namespace, PodName: d.opts.Pod, PodUid: d.opts.UID, Incarnation: d.incarnation, Version: "v1", ContractVersion: "1",
		PlanRevision: d.Revision(),
	}}}
}

// receive takes in what comes until the stream ends.
func (d *Drawer) receive(stream *client) (leader string) {
	for {
		down, err := stream.Receive()
		if err != nil {
			return ""
		}
		now := time.Now()
		switch {
		case down.GetLeader() != nil:
			return down.GetLeader().GetAddress()
		case down.GetPlan() != nil:
			if d.adopt(down.GetPlan().GetRevision(), down.GetPlan().GetJson(), now) {
				d.poke()
			}
		case down.GetGrants() != nil:
			for _, g := range down.GetGrants().GetGrants() {
				d.receiveGrant(g, now)
			}
			d.poke()
		}
	}
}

func (d *Drawer) receiveGrant(g *wire.Grant, now time.Time) {
	grant := fromWire(g)
	grant.Holder = d.opts.Pod + "/" + d.opts.UID
	d.mu.Lock()
	defer d.mu.Unlock()
	d.holder.Receive(&grant, now)
	if at, ok := d.drawn[g.GetAck()]; ok {
		if d.opts.Heard.Answered != nil {
			d.opts.Heard.Answered(now.Sub(at))
		}
		for seq := range d.drawn {
			if seq <= g.GetAck() {
				delete(d.drawn, seq)
			}
		}
	}
	d.spend(now)
}

// send reports and draws when it is due, until the stream or ctx ends.
func (d *Drawer) send(ctx context.Context, stream *client, ended <-chan struct{}) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	report, said := time.Now().Add(time.Duration(rand.N(int64(wire.ReportInterval)))), int64(-1)
	for {
		select {
		case <-ctx.Done():
			_ = stream.Send(d.drawing(d.drain(time.Now())))
			_ = stream.Send(d.report(time.Now(), true))
			_ = stream.CloseRequest()
			return
		case <-ended:
			return
		case <-d.wake:
		case <-timer.C:
		}
		now := time.Now()
		if revision := d.Revision(); !now.Before(report) || revision != said {
			if stream.Send(d.report(now, false)) != nil {
				return
			}
			if d.opts.Heard.Acknowledged != nil && revision != said && revision > 0 {
				d.opts.Heard.Acknowledged(revision, now)
			}
			report, said = now.Add(wire.ReportInterval), revision
		}
		draw, next := d.draw(now)
		if draw != nil && stream.Send(d.drawing(*draw)) != nil {
			return
		}
		if report.Before(next) {
			next = report
		}
		timer.Reset(max(time.Until(next), 0))
	}
}

// draw is the next draw if one is due, and when something is due again.
func (d *Drawer) draw(now time.Time) (*pool.Report, time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	call := d.spend(now)
	var draw *pool.Report
	if len(d.limits) > 0 && !now.Before(d.holder.Due(now)) {
		r := d.holder.Report([]pool.Demand{d.demand()}, now)
		d.drawn[r.Sequence] = now
		draw = &r
	}
	next := call
	if due := d.holder.Due(now); len(d.limits) > 0 && due.Before(next) {
		next = due
	}
	return draw, next
}

func (d *Drawer) drain(now time.Time) pool.Report {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.holder.Drain(now)
}
