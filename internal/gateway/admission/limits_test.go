// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
)

func TestCountsAreWrittenAsPeopleSayThem(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 999: "999", 4000: "4k", 38_499: "38k", 427_000: "427k", 1.9e6: "1.9M", 2e6: "2M", 2.5e9: "2.5G"} {
		if got := Rounded(v); got != want {
			t.Errorf("Rounded(%v) = %s, want %s", v, got, want)
		}
	}
	if got := Described(400_000, time.Minute); got != "400k/min" {
		t.Errorf("Described = %s", got)
	}
}

func TestSafeSharesOfAllGatewaysStayBelowTheLimit(t *testing.T) {
	l := plan.Limit{Name: "t", Budget: plan.InputTokens, Amount: 400_000, WindowSeconds: 60, Burst: 400_000}
	for _, n := range []int32{0, 1, 4, 40, 1000} {
		s := safeShare(l, n)
		if total := s.RatePerSecond * float64(max(n, 1)); total > rate(l)/2+1e-9 {
			t.Errorf("%d gateways take %v of %v a second", n, total, rate(l))
		}
	}
	if b := bucket(l, &Share{RatePerSecond: 1e9, Capacity: 1e12}); b.Rate > rate(l) || b.Capacity > 400_000 {
		t.Errorf("a share raises the declared limit: %+v", b)
	}
	if s := safeShare(plan.Limit{Budget: plan.InFlight, Amount: 64}, 4); s.Capacity != 8 {
		t.Errorf("safe slots %v", s.Capacity)
	}
	if s := safeShare(plan.Limit{Budget: plan.InFlight, Amount: 0}, 4); s.Capacity != 0 {
		t.Errorf("of no slots %v are safe", s.Capacity)
	}
}

// TestWaitingIsBoundedOverAllLanes: the bounds of a gate reach its scheduler.
func TestWaitingIsBoundedOverAllLanes(t *testing.T) {
	g := New(Options{MaxBytes: 1000}, plan.Route{}, 1, time.Unix(0, 0))
	if cfg := g.configLocked(); cfg.MaxBytes != 1000 || cfg.MaxDepth != maxWaiting {
		t.Errorf("bounded by %d calls and %d bytes", cfg.MaxDepth, cfg.MaxBytes)
	}
}
