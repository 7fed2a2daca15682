// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"context"
	"time"

	"github.com/headgate-dev/headgate/internal/ledger"
)

// WithLedger has do called with the ledger, alone, and then what it brought granted. It is false where this replica does not
// lead, and do was not called. Term is another one for each leadership. It is how pools draw on a budget store.
func (s *Server) WithLedger(ctx context.Context, do func(l *ledger.Ledger, term uint64, now time.Time)) bool {
	done := make(chan bool, 1)
	b := s.budgets
	b.do(func(context.Context, time.Time) {
		// The order may have waited, and who waited for it be gone.
		led := b.leads && ctx.Err() == nil
		if led {
			do(b.ledger, b.epoch, time.Now())
		}
		done <- led
	})
	select {
	case led := <-done:
		return led
	case <-ctx.Done():
		return false
	}
}
