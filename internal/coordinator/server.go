// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/headgate-dev/headgate/internal/connections"
	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/wire"
)

// Server is one replica's coordinator.
type Server struct {
	opts    Options
	path    string
	handler http.Handler
	reviews *turns
	changed chan struct{}
	budgets *budgets

	mu     sync.Mutex
	spaces map[string]*space
	// streams counts all that have an identity.
	streams int
	parked  parking
	// stopped: Run has ended.
	stopped bool
	// dirty are the namespaces whose conditions may have changed.
	dirty map[string]struct{}
	lead  leadership
	stats stats
}

// leadership is what the last tick saw.
type leadership struct {
	self    bool
	address string
	epoch   uint64
}

// New returns a coordinator. Its streams live as long as Run.
func New(opts Options) *Server {
	opts = opts.withDefaults()
	s := &Server{
		opts:    opts,
		reviews: newTurns(opts.Bounds.Reviews, opts.Bounds.Streams),
		changed: make(chan struct{}, 1),
		spaces:  map[string]*space{},
		dirty:   map[string]struct{}{},
		stats:   newStats(),
		budgets: newBudgets(opts),
		parked:  newParking(),
	}
	s.path, s.handler = wire.NewReportsHandler(s,
		connect.WithReadMaxBytes(wire.MaxMessageBytes),
		// No compression: what unpacks to more than it sends costs a server more than its sender.
		connect.WithCompression("gzip", nil, nil),
	)
	return s
}

// Figures is what the gateways reported.
func (s *Server) Figures() *figures.Store { return s.opts.Figures }

// Path is where the coordinator's handler is to be mounted.
func (s *Server) Path() string { return s.path }

type controlKey struct{}

// ServeHTTP serves the stream.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx := context.WithValue(r.Context(), controlKey{}, http.NewResponseController(w))
	s.handler.ServeHTTP(w, r.WithContext(ctx))
}

// Connect implements wire.ReportsHandler.
func (s *Server) Connect(ctx context.Context, conn *connect.BidiStream[wire.Up, wire.Down]) error {
	// Where the leader is may be known to all, and costs nothing: a fleet that looks for it is not reviewed twice.
	if address, self := s.opts.Leadership.Leader(); !self && address != "" {
		return conn.Send(leaderMessage(address))
	}
	control, ok := ctx.Value(controlKey{}).(*http.ResponseController)
	if !ok {
		return connect.NewError(connect.CodeInternal, errors.New("the stream cannot be bounded in time"))
	}
	id, err := s.authenticate(ctx, conn.RequestHeader(), conn.Peer().Addr)
	if err != nil {
		return err
	}
	within(control, joinTimeout)
	if address, self, err := s.leader(ctx, id.Pod); !self {
		return elsewhere(conn, address, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cut := &cutter{control: control}
	defer cut.stop()
	defer context.AfterFunc(ctx, cut.receives)()
	hello, err := receiveHello(ctx, cancel, conn, id)
	if err != nil {
		return err
	}
	st := &stream{
		server: s, id: id, ctx: ctx, cancel: cancel, cut: cut,
		wake: make(chan struct{}, 1), incarnation: hello.GetIncarnation(),
	}
	if err := s.join(st, hello); err != nil {
		return err
	}
	defer s.leave(st)
	// A stream that counts is looked after as long as it does, and who reads nothing of why it ends is waited for no longer.
	context.AfterFunc(ctx, connections.Keep(ctx))
	within(control, 0)
	defer within(control, sendTimeout)
	return st.serve(conn)
}

// elsewhere answers for a replica that does not lead.
func elsewhere(conn *connect.BidiStream[wire.Up, wire.Down], address string, err error) error {
	if err != nil {
		return err
	}
	return conn.Send(leaderMessage(address))
}

func leaderMessage(address string) *wire.Down {
	return &wire.Down{Message: &wire.Down_Leader{Leader: &wire.Leader{Address: address}}}
}

func receiveHello(
	ctx context.Context, cancel context.CancelCauseFunc, conn *connect.BidiStream[wire.Up, wire.Down], id Identity,
) (*wire.Hello, error) {
	timer := time.AfterFunc(helloTimeout, func() { cancel(errNoHello) })
	defer timer.Stop()
	up, err := conn.Receive()
	if err != nil {
		return nil, ended(ctx, err)
	}
	hello := up.GetHello()
	if hello == nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, errors.New("the first message is not a hello"))
	}
	if !id.owns(hello) {
		return nil, connect.NewError(connect.CodePermissionDenied, errors.New("the token is another pod's"))
	}
	if len(hello.GetVersion()) > maxVersion || len(hello.GetContractVersion()) > maxVersion {
		return nil, connect.NewError(connect.CodeInvalidArgument, errors.New("the hello exceeds its bounds"))
	}
	return hello, nil
}

const maxVersion = 64

// owns says whether a hello's names are the identity's.
func (id Identity) owns(h *wire.Hello) bool {
	return h.GetNamespace() == id.Pod.Namespace && h.GetPodName() == id.Pod.Name && h.GetPodUid() == id.Pod.UID
}
