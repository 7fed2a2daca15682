// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/headgate-dev/headgate/internal/ledger"
)

// With calls do with the ledger, alone, in the next batch, and then grants what that brought. It is false when this replica
// does not lead or ctx ended first, and then do was not called and will not be. Term is another one for each leadership.
func (s *Server) With(ctx context.Context, do func(l *ledger.Ledger, term uint64, now time.Time)) bool {
	var claimed atomic.Bool
	done := make(chan bool, 1)
	b := s.budgets
	b.do(func(_ context.Context, now time.Time) {
		if !claimed.CompareAndSwap(false, true) {
			return
		}
		leads := b.leads && !b.fenced(now)
		if leads {
			do(b.ledger, b.epoch, now)
		}
		done <- leads
	})
	select {
	case led := <-done:
		return led
	case <-ctx.Done():
	case <-b.ended:
	}
	return !claimed.CompareAndSwap(false, true) && <-done
}
