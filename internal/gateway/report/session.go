// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"

	"github.com/headgate-dev/headgate/internal/wire"
)

// session is one stream.
type session struct {
	client *Client
	stream *connect.BidiStreamForClient[wire.Up, wire.Down]
	in     chan *wire.Down
	began  time.Time
	// done closes after err is set: the receiver has ended.
	done chan struct{}
	err  error
	// cancel ends the stream at once, also a send that waits.
	cancel context.CancelFunc
	// silence ends a stream on which an answer is due for long.
	silence *time.Timer
	silent  atomic.Bool
	drawer  *drawer
}

var errSilent = errors.New("the coordinator says nothing")

// newHTTPClient follows no redirects: where the leader is, a message says.
func newHTTPClient(transport http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// receive passes messages on until the stream ends.
func (s *session) receive(ctx context.Context) {
	defer close(s.done)
	for {
		down, err := s.stream.Receive()
		if err != nil {
			s.err = err
			return
		}
		select {
		case s.in <- down:
		case <-ctx.Done():
			s.err = ctx.Err()
			return
		}
	}
}

// run sends and acts until the stream or ctx ends.
func (s *session) run(ctx context.Context) outcome {
	defer context.AfterFunc(ctx, func() { time.AfterFunc(drainTimeout, s.cancel) })()
	// The first message comes after connection and handshake.
	s.silence = time.AfterFunc(2*dialTimeout+wire.LeaseTTL, func() { s.silent.Store(true); s.cancel() })
	defer s.silence.Stop()
	s.drawer = newDrawer(s, s.client.opts.Draws)
	defer s.drawer.timer.Stop()
	if s.stream.Send(s.client.hello()) != nil || !s.drawer.begin(time.Now()) {
		return s.last()
	}
	report := time.NewTimer(interval())
	defer report.Stop()
	var reported time.Time
	for {
		select {
		case <-ctx.Done():
			s.drain()
			return outcome{err: ctx.Err()}
		case <-s.done:
			return s.over(s.err)
		case down := <-s.in:
			s.drawer.heard()
			s.client.connected.Store(down.GetLeader() == nil)
			if leader := down.GetLeader(); leader != nil {
				return s.sentOn(leader)
			}
			if s.act(down) {
				report.Reset(max(promptGap-time.Since(reported), 0))
			}
			if !s.drawer.send(false, time.Now()) {
				return s.last()
			}
		case <-s.drawer.timer.C:
			if !s.drawer.send(false, time.Now()) {
				return s.last()
			}
		case <-s.drawer.hastened():
			s.drawer.rearm(time.Now())
		case <-report.C:
			reported = time.Now()
			if err := s.stream.Send(s.client.report(reported, false)); err != nil {
				return s.last()
			}
			report.Reset(interval())
		}
	}
}

// last is the outcome of a stream on which nothing can be sent any more: what was said before its end, such as
// where the leader is, still counts.
func (s *session) last() outcome {
	for {
		select {
		case down := <-s.in:
			if leader := down.GetLeader(); leader != nil {
				return s.sentOn(leader)
			}
		case <-s.done:
			return s.over(s.err)
		}
	}
}

func (s *session) sentOn(leader *wire.Leader) outcome {
	end := s.over(nil)
	end.leader = leader.GetAddress()
	return end
}

func (s *session) over(err error) outcome {
	if s.silent.Load() {
		err = errSilent
	}
	return outcome{err: err, well: s.client.Connected() && time.Since(s.began) >= healthy}
}

// act takes a plan or grants; true when the coordinator should hear of it soon.
func (s *session) act(down *wire.Down) bool {
	switch {
	case down.GetPlan() != nil:
		s.client.offer(down.GetPlan())
		return true
	case down.GetGrants() != nil:
		s.drawer.receive(down.GetGrants(), time.Now())
	}
	return false
}

// drain sends the last draws and report: what was spent is final, and what was not is free for others. The end of ctx
// has started the timer that bounds it.
func (s *session) drain() {
	if !s.drawer.drain(time.Now()) || s.stream.Send(s.client.report(time.Now(), true)) != nil || s.stream.CloseRequest() != nil {
		return
	}
	for {
		select {
		case <-s.in:
		case <-s.done:
			return
		}
	}
}

// cut bounds a message, in whole characters.
func cut(message string) string {
	return strings.ToValidUTF8(message[:min(len(message), maxPlanError)], "")
}
