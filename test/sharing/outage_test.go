// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/testing/dataplane"
	"github.com/headgate-dev/headgate/internal/wire"
)

// alone runs a fleet whose coordinator is killed for good, and judges what arrives once no lease is left.
func alone(t *testing.T, outage string) (*fleet, verdict) {
	t.Helper()
	along(t)
	f := newFleet(t)
	f.outage = outage
	f.open().scale(3)
	stop := f.offer(0)
	time.Sleep(warmUp)
	f.flows()
	f.replica.kill()
	time.Sleep(wire.LeaseTTL + time.Second)
	from := time.Now()
	time.Sleep(seconds())
	to := time.Now()
	stop()
	got := judge(f.provider.Arrivals(), rate, burst, from, to)
	t.Logf("%s: excess %.2f %% of a minute's amount, %d refused by the provider, utilisation %.3f; answers: %d ok, %d declined, %d failed", outage,
		100*got.excess/perMinute, got.throttled, got.utilisation, f.answered[200].Load(), f.answered[429].Load(), f.answered[0].Load())
	f.calls.Wait()
	return f, got
}

// flows waits until gateways have grants, which a machine with other work may bring late: nobody goes on with what it never had.
func (f *fleet) flows() {
	f.t.Helper()
	const lately = 2 * time.Second
	for end := time.Now().Add(dataplane.Patience); ; time.Sleep(lately / 4) {
		now := time.Now()
		if judge(f.provider.Arrivals(), rate, burst, now.Add(-lately), now).utilisation > 4*safe {
			return
		}
		if now.After(end) {
			f.t.Fatal("gateways have no more than their safe shares")
		}
	}
}

// safe is what three gateways of twenty have together on their safe shares.
const safe = 3.0 / 40

// TestLastGrantGoesOnWithoutACoordinator: at what each was told to expect, which adds up to the rate at the most.
func TestLastGrantGoesOnWithoutACoordinator(t *testing.T) {
	f, got := alone(t, plan.LastGrant)
	if got.excess > 0.01*perMinute {
		t.Errorf("an interval saw %.0f tokens above burst and refill", got.excess)
	}
	if got.utilisation < 2*safe {
		t.Errorf("utilisation %.3f, which safe shares alone would bring nearly", got.utilisation)
	}
	if failed := f.answered[0].Load() + f.answered[503].Load() + f.answered[502].Load(); failed > 0 {
		t.Errorf("%d calls failed for want of a coordinator", failed)
	}
}

// TestOpenHoldsNobodyWithoutACoordinator: what binds is the provider alone. It may refuse calls, and their gateways wait.
func TestOpenHoldsNobodyWithoutACoordinator(t *testing.T) {
	f, got := alone(t, plan.Open)
	if got.utilisation < 2*safe {
		t.Errorf("utilisation %.3f, which safe shares alone would bring nearly", got.utilisation)
	}
	if failed := f.answered[0].Load() + f.answered[503].Load() + f.answered[502].Load(); failed > 0 {
		t.Errorf("%d calls failed for want of a coordinator", failed)
	}
}
