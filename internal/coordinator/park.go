// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"context"
	"time"
)

// parkTime is how long a gateway waits here where nobody leads: a leader that ended in order is followed sooner. One that was sent
// away would come back with another handshake, and later than it could be served.
const parkTime = 10 * time.Second

// leader is who leads, as soon as somebody does.
func (s *Server) leader(ctx context.Context) (address string, self bool) {
	address, self = s.opts.Leadership.Leader()
	if self || address != "" || !s.park(1) {
		return address, self
	}
	defer s.park(-1)
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	end := time.NewTimer(parkTime)
	defer end.Stop()
	for !self && address == "" {
		select {
		case <-ctx.Done():
			return "", false
		case <-end.C:
			return "", false
		case <-ticker.C:
			address, self = s.opts.Leadership.Leader()
			if s.ended() {
				return address, false
			}
		}
	}
	return address, self
}

// park counts gateways that wait, as many as there may be streams.
func (s *Server) park(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > 0 && (s.stopped || s.parked >= s.opts.Bounds.Streams) {
		return false
	}
	s.parked += n
	return true
}

func (s *Server) ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped
}
