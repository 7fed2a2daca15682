// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"

	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/plan"
)

// What gateways gave back is there as well, and no more than the burst is ever there.
func TestWhatRemainsIsInGatewaysAndAtTheCoordinator(t *testing.T) {
	v := limitView{declared: plan.Limit{Budget: plan.InputTokens, Amount: 240_000, Burst: 48_000}, seen: figures.LimitFigures{Remaining: 2_000}}
	for level, want := range map[float64]float64{0: 2_000, 30_000: 32_000, 47_000: 48_000} {
		v.shared = &ledger.LimitFigures{Level: level}
		if got := v.remaining(); got != want {
			t.Errorf("%v at the coordinator: %v remain, want %v", level, got, want)
		}
	}
	v.shared = nil
	if got := v.remaining(); got != 2_000 {
		t.Errorf("without a coordinator %v remain", got)
	}
}
