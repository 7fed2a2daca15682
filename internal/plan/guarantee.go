// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"math"
	"time"
)

// CapWindowSeconds is the window from which a limit is a cap, which refuses rather than delays.
const CapWindowSeconds = 60 * 60

// WaitBound is how long a committed call of a lane waits at most, whatever the other lanes do: the longest of c/(r·R)
// over the limits, c being what the call takes of each, r the lane's share and R the rate. It names the limit that takes
// longest. Without a share there is no bound, and false.
//
// Limits that count some models only are left out unless the lane asks for these, and so are caps, calls in flight and
// output: what a call takes of them is not known before.
func (r *Route) WaitBound(lane *Lane, inputTokens int64) (wait time.Duration, limit string, bounded bool) {
	for i := range r.Limits {
		l := &r.Limits[i]
		cost := l.costOf(inputTokens)
		if cost == 0 || !l.delays() || !l.CountsAll(lane) {
			continue
		}
		if lane.SharePermille == 0 {
			return 0, l.Name, false
		}
		if took := l.Refill(cost, lane.SharePermille); took > wait || limit == "" {
			wait, limit = took, l.Name
		}
	}
	return wait, limit, true
}

// CountsAll says whether the limit counts every call of a lane.
func (l *Limit) CountsAll(lane *Lane) bool { return globsCover(l.Models, lane.Models) }

// delays says whether calls wait for the limit: caps refuse, and what never refills lets nothing pass.
func (l *Limit) delays() bool {
	return l.Amount > 0 && l.Burst > 0 && l.WindowSeconds > 0 && l.WindowSeconds < CapWindowSeconds
}

func (l *Limit) costOf(inputTokens int64) int64 {
	switch l.Budget {
	case Requests:
		return 1
	case InputTokens, Tokens:
		return inputTokens
	}
	return 0
}

// Refill is cost/(r·R), rounded up to milliseconds: how long a share of the empty limit takes to hold cost. It is 0 where
// nothing refills.
func (l *Limit) Refill(cost int64, sharePermille int32) time.Duration {
	if l.Amount == 0 || l.WindowSeconds == 0 || sharePermille == 0 {
		return 0
	}
	// In floating point: cost, window and factors together can exceed 64 bits.
	perMilli := float64(l.Amount) / float64(l.WindowSeconds) / 1000 * float64(sharePermille) / wholePermille
	return time.Duration(min(math.Ceil(float64(cost)/perMilli-1e-9), maxMillis)) * time.Millisecond
}
