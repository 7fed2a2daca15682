// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"context"
	"errors"
	"time"

	"connectrpc.com/connect"

	"github.com/headgate-dev/headgate/internal/connections"
	"github.com/headgate-dev/headgate/internal/figures"
)

// parkTime is how long a gateway waits here where nobody leads: a leader that ended in order is followed sooner. One that was sent
// away would come back with another handshake, and later than it could be served.
const parkTime = 10 * time.Second

var errNobodyLeads = connect.NewError(connect.CodeUnavailable, errors.New("nobody leads now"))

// parking are the gateways that wait for somebody to lead. Each has shown whose it is: places that anybody could take would be
// taken from those they are for. The server's mu guards it.
type parking struct {
	// places end the wait of a pod's gateway; a pod has one, as it has one stream.
	places map[figures.Pod]*place
	// of counts a namespace's.
	of map[string]int
}

// place is one gateway's wait.
type place struct{ leave context.CancelCauseFunc }

func newParking() parking { return parking{places: map[figures.Pod]*place{}, of: map[string]int{}} }

// leader waits until somebody leads, for a gateway that is pod's.
func (s *Server) leader(ctx context.Context, pod figures.Pod) (address string, self bool, err error) {
	address, self = s.opts.Leadership.Leader()
	if self || address != "" {
		return address, self, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	mine, err := s.park(pod, cancel)
	if err != nil {
		return "", false, err
	}
	defer s.unpark(pod, mine)
	context.AfterFunc(ctx, connections.Keep(ctx))
	return s.await(ctx)
}

// await looks who leads until somebody does.
func (s *Server) await(ctx context.Context) (address string, self bool, err error) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	end := time.NewTimer(parkTime)
	defer end.Stop()
	for !self && address == "" {
		select {
		case <-ctx.Done():
			return "", false, ended(ctx, ctx.Err())
		case <-end.C:
			return "", false, errNobodyLeads
		case <-ticker.C:
			address, self = s.opts.Leadership.Leader()
			if s.ended() && (self || address == "") {
				return "", false, errNobodyLeads
			}
		}
	}
	return address, self, nil
}

// park gives a pod's gateway a place, its older one's if it has one: bounded as streams are.
func (s *Server) park(pod figures.Pod, leave context.CancelCauseFunc) (*place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil, errNobodyLeads
	}
	mine := &place{leave}
	if older := s.parked.places[pod]; older != nil {
		older.leave(errReplaced)
		s.parked.places[pod] = mine
		return mine, nil
	}
	if len(s.parked.places) >= s.opts.Bounds.Streams || s.parked.of[pod.Namespace] >= s.opts.Bounds.NamespaceStreams {
		return nil, errTooMany
	}
	s.parked.places[pod] = mine
	s.parked.of[pod.Namespace]++
	return mine, nil
}

// unpark gives a place back, unless a newer gateway of the pod has it.
func (s *Server) unpark(pod figures.Pod, mine *place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parked.places[pod] != mine {
		return
	}
	delete(s.parked.places, pod)
	if s.parked.of[pod.Namespace]--; s.parked.of[pod.Namespace] == 0 {
		delete(s.parked.of, pod.Namespace)
	}
}

func (s *Server) ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped
}
