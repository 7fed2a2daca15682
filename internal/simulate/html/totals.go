// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package html

import (
	"maps"
	"slices"

	"github.com/headgate-dev/headgate/internal/simulate/result"
)

// total adds up a run.
type total struct {
	offered, succeeded, tooLate, declined, deferred, failed, unfinished int
	attempts, sends, throttled, overloaded, peak                        int
	longestWait, declineMedian, utilisation, excess                     float64
	hasBudgets                                                          bool
}

func sum(m map[string]int) int {
	n := 0
	for _, v := range m {
		n += v
	}
	return n
}

func totals(r *result.Result) total {
	var t total
	for _, key := range slices.Sorted(maps.Keys(r.Streams)) {
		if s := r.Streams[key]; s != nil {
			t.addStream(s)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.Provider)) {
		if p := r.Provider[key]; p != nil {
			t.addProvider(p)
		}
	}
	return t
}

func (t *total) addStream(s *result.Stream) {
	t.offered += s.Offered
	t.succeeded += s.Succeeded
	t.tooLate += s.TooLate
	t.declined += sum(s.Declined)
	t.deferred += s.Deferred
	t.failed += sum(s.Failed)
	t.unfinished += s.Unfinished
	t.attempts += s.Attempts
	t.longestWait = max(t.longestWait, finite(s.Wait.Max))
	t.declineMedian = max(t.declineMedian, finite(s.Decline.P50))
}

func (t *total) addProvider(p *result.Provider) {
	t.sends += p.Sends
	t.throttled += p.Rejected429
	t.overloaded += p.Rejected529
	t.peak = max(t.peak, p.PeakPer100ms)
	for _, b := range p.Budgets {
		if b == nil {
			continue
		}
		t.hasBudgets = true
		t.utilisation = max(t.utilisation, finite(b.Utilisation))
		if b.Burst > 0 {
			t.excess = max(t.excess, finite(b.MaxExcess)/b.Burst)
		}
	}
}
