// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/headgate-dev/headgate/internal/wire"
)

// backoff draws the wait before attempt n, from 1: up to base·2^((n-1)/2), up to the cap, and the first time little: a leader that
// ends in order is followed at once, and where nobody leads yet the gateway waits. It grows slowly: one that dies is followed
// within seconds, and until then there are no grants.
func backoff(n int) time.Duration {
	most := backoffCap
	if n = max(n, 1); n < 20 {
		most = min(backoffBase<<((n-1)/2), backoffCap)
	}
	if n == 1 {
		most = backoffFirst
	}
	return max(rand.N(most), backoffMin)
}

// sleep waits; false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// interval draws the time to the next report.
func interval() time.Duration {
	spread := float64(wire.ReportInterval) * jitter
	return wire.ReportInterval + time.Duration(spread*(2*rand.Float64()-1))
}
