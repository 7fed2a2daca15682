// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/headgate-dev/headgate/internal/wire"
)

// The reasons a stream ends for.
var (
	errNoHello   = connect.NewError(connect.CodeDeadlineExceeded, errors.New("no hello came"))
	errReplaced  = connect.NewError(connect.CodeAborted, errors.New("a newer stream of this pod replaced this one"))
	errGone      = connect.NewError(connect.CodeFailedPrecondition, errors.New("the pod is gone"))
	errExpired   = connect.NewError(connect.CodeUnauthenticated, errors.New("the token has expired"))
	errSilent    = connect.NewError(connect.CodeDeadlineExceeded, errors.New("no report came"))
	errStuck     = connect.NewError(connect.CodeDeadlineExceeded, errors.New("the gateway reads nothing"))
	errFlood     = connect.NewError(connect.CodeResourceExhausted, errors.New("too many reports"))
	errMoved     = errors.New("another replica leads")
	errStopped   = connect.NewError(connect.CodeUnavailable, errors.New("the coordinator stops"))
	errTooMany   = connect.NewError(connect.CodeResourceExhausted, errors.New("too many gateways are connected"))
	errTooOften  = connect.NewError(connect.CodeResourceExhausted, errors.New("the pod connects too often"))
	errBadReport = errors.New("the report exceeds its bounds")
)

// stream is one gateway's connection. Its fields below mu are guarded by the server's.
type stream struct {
	server *Server
	id     Identity
	ctx    context.Context //nolint:containedctx // it is the connection's, and cancelled with a cause
	cancel context.CancelCauseFunc
	cut    *cutter
	wake   chan struct{}
	// incarnation is the hello's.
	incarnation uint64
	box         mailbox

	// Of the reader: how much it drew, and how often too fast.
	draws allowance
	hasty int

	// mu of the server:
	member   *member
	allowed  allowance
	heard    time.Time
	sending  time.Time // zero unless a message is being sent
	planSent int64
	// said is when something was last sent, lifeDue that something is to be.
	said    time.Time
	lifeDue bool
	moved   string // where the leader is, once it is not here
}

// poke lets the writer look for what is due.
func (st *stream) poke() {
	select {
	case st.wake <- struct{}{}:
	default:
	}
}

// serve reads reports until the stream ends; a second goroutine writes.
func (st *stream) serve(conn *connect.BidiStream[wire.Up, wire.Down]) error {
	wrote := make(chan struct{})
	go func() {
		defer close(wrote)
		st.write(conn)
	}()
	err := st.read(conn)
	st.cancel(err)
	// The writer may wait for the window of a gateway that reads nothing: nothing but a deadline ends that.
	late := time.AfterFunc(sendTimeout, st.cut.sends)
	defer late.Stop()
	<-wrote
	return ended(st.ctx, err)
}

// ended is what the caller is told: the cause, if the server ended the stream.
func ended(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	var told *connect.Error
	switch {
	case errors.Is(cause, errMoved):
		return nil
	case errors.As(cause, &told):
		return told
	}
	return err
}

func (st *stream) read(conn *connect.BidiStream[wire.Up, wire.Down]) error {
	for {
		up, err := conn.Receive()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := st.take(up); err != nil {
			return err
		}
	}
}

// take takes in what came.
func (st *stream) take(up *wire.Up) error {
	switch now := time.Now(); {
	case up.GetReport() != nil:
		return st.server.observe(st, up.GetReport(), now)
	case up.GetDraws() != nil:
		return st.server.draw(st, up.GetDraws(), now)
	case up.GetHello() == nil && len(up.ProtoReflect().GetUnknown()) > 0:
		// A later release's gateway has more to say than this one knows: after a manager was put back, its pods are still there.
		return st.slow(now)
	}
	return connect.NewError(connect.CodeInvalidArgument, errors.New("only reports and draws follow the hello"))
}

func (st *stream) write(conn *connect.BidiStream[wire.Up, wire.Down]) {
	for {
		select {
		case <-st.ctx.Done():
			return
		case <-st.wake:
		}
		for _, down := range st.server.outbox(st, time.Now()) {
			st.server.sends(st, time.Now())
			err := conn.Send(down)
			st.server.sent(st)
			if err != nil {
				st.cancel(err)
				return
			}
			if down.GetLeader() != nil {
				st.cancel(errMoved)
				return
			}
		}
	}
}

// outbox takes what is due to a gateway.
func (s *Server) outbox(st *stream, now time.Time) []*wire.Down {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st.moved != "" {
		// Its member is forgotten already.
		return []*wire.Down{leaderMessage(st.moved)}
	}
	if st.member == nil || st.member.stream != st {
		return nil
	}
	var due []*wire.Down
	if space := s.spaces[st.id.Pod.Namespace]; space.revision > st.planSent {
		st.planSent = space.revision
		due = append(due, &wire.Down{Message: &wire.Down_Plan{
			Plan: &wire.PlanUpdate{Revision: space.revision, Json: space.json},
		}})
	}
	due = append(due, st.box.takeGrants()...)
	if len(due) == 0 && st.lifeDue {
		due = append(due, &wire.Down{Message: &wire.Down_Grants{Grants: &wire.Grants{}}})
	}
	st.lifeDue = false
	if len(due) > 0 {
		st.said = now
	}
	return due
}

// sends notes when a message is sent that may wait for its gateway.
func (s *Server) sends(st *stream, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st.sending = now
}

func (s *Server) sent(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st.sending = time.Time{}
}

// end ends the stream for a reason; mu is held.
func (st *stream) end(reason error) {
	st.cancel(reason)
	if errors.Is(reason, errStuck) {
		// The writer waits for the gateway's window: nothing else unblocks it.
		go st.cut.sends()
	}
}

// cutter ends a Receive or Send that waits: nothing but a deadline does. It must not be used after the handler
// has returned.
type cutter struct {
	mu      sync.Mutex
	control *http.ResponseController
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

func (c *cutter) receives() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.control != nil {
		_ = c.control.SetReadDeadline(past)
	}
}

func (c *cutter) sends() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.control != nil {
		_ = c.control.SetWriteDeadline(past)
	}
}

func (c *cutter) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.control = nil
}

// allowance is a small token bucket.
type allowance struct {
	level float64
	at    time.Time
}

func (a *allowance) take(now time.Time, perSecond, burst float64) bool {
	if a.at.IsZero() {
		a.level = burst
	} else {
		a.level = min(burst, a.level+perSecond*max(now.Sub(a.at), 0).Seconds())
	}
	a.at = now
	if a.level < 1 {
		return false
	}
	a.level--
	return true
}
