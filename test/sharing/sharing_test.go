// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/redisserver"
)

// within fails if the provider saw more than burst and refill, refused a call, or had less to do than is due. The bound on an
// excess is 1 % of a minute's amount. A machine with other work does less and sends what waited for it at once: a run that
// is not long is judged by what was certainly sent too early alone.
func (got verdict) within(t *testing.T, least float64) {
	t.Helper()
	above := got.excess
	if !long() {
		above = got.certain
	}
	if above > 0.01*perMinute {
		t.Errorf("an interval saw %.0f tokens above burst and refill, which is %.1f %% of a minute's", above, 100*above/perMinute)
	}
	if !long() {
		return
	}
	if got.throttled > 0 {
		t.Errorf("the provider refused %d calls", got.throttled)
	}
	if got.utilisation < least {
		t.Errorf("utilisation %.3f, at least %.2f are due", got.utilisation, least)
	}
}

// along runs a short test beside the others, and a long one by itself.
func along(t *testing.T) {
	t.Helper()
	if !long() {
		t.Parallel()
	}
}

// onlyLong skips what the simulator shows in seconds with the same code, and internal/ledger and internal/coordinator show
// over faulty networks: here it takes minutes.
func onlyLong(t *testing.T) {
	t.Helper()
	if !long() {
		t.Skip("only in make sharing: it takes real minutes")
	}
}

func TestC10SteadyFleetKeepsTheLimitAndUsesIt(t *testing.T) {
	along(t)
	f := newFleet(t).open()
	f.scale(3)
	f.measure(0, seconds(), func() {}).within(t, 0.98)
}

func TestOneHotGatewayAmongIdleOnesHasTheRate(t *testing.T) {
	along(t)
	f := newFleet(t).open()
	f.scale(4)
	f.measure(97, seconds(), func() {}).within(t, 0.98)
}

// Fault C10: Each replica held the whole limit, and each new one started with a full bucket.
// Headgate: What gateways hold together never exceeds the limit while they come, go, crash and are replaced, and a new
// one starts small.
// TestAnIdleLanesShareIsLent: nobody uses the 40 % of the lane for large calls.
func TestAnIdleLanesShareIsLent(t *testing.T) {
	along(t)
	f := newFleet(t).open()
	f.small = true
	f.scale(4)
	f.measure(97, seconds(), func() {}).within(t, 0.98)
}

func TestTwoToTenToTwo(t *testing.T) {
	onlyLong(t)
	f := newFleet(t).open()
	f.scale(2)
	f.measure(0, 2*seconds(), func() {
		f.scale(10)
		time.Sleep(seconds() / 2)
		f.scale(2)
	}).within(t, 0.9)
}

// TestRollingUpdateWithSurge replaces each gateway, the new one first.
func TestRollingUpdateWithSurge(t *testing.T) {
	onlyLong(t)
	f := newFleet(t).open()
	f.scale(3)
	f.measure(0, 2*seconds(), func() {
		for range 3 {
			f.join()
			f.mu.Lock()
			oldest := f.gateways[0]
			f.mu.Unlock()
			oldest.leave()
			time.Sleep(seconds() / 4)
		}
	}).within(t, 0.9)
}

// TestACrashLoopLeaksNothing: what a container held that was killed counts as spent, each time.
func TestACrashLoopLeaksNothing(t *testing.T) {
	along(t)
	f := newFleet(t).open()
	f.scale(3)
	every := min(seconds()/3, 10*time.Second)
	f.measure(0, 2*seconds(), func() {
		for end := time.Now().Add(2 * seconds()); time.Until(end) > every; {
			f.last().crash()
			time.Sleep(every)
		}
	}).within(t, 0.3)
}

// TestTheCoordinatorIsKilledAndComesBack: gateways spend what they hold and then their safe shares, and what the leader
// before may have granted is not granted again.
func TestTheCoordinatorIsKilledAndComesBack(t *testing.T) {
	along(t)
	f := newFleet(t).open()
	f.scale(3)
	f.measure(0, 2*seconds(), func() {
		f.replica.kill()
		time.Sleep(seconds() / 2)
		f.replica = f.cluster.start(f.address)
		f.replica.lead()
	}).within(t, 0)
}

// TestLeadersChange: another replica leads while the first still runs.
func TestLeadersChange(t *testing.T) {
	onlyLong(t)
	f := newFleet(t).open()
	f.scale(3)
	other := f.cluster.start("")
	t.Cleanup(other.kill)
	f.measure(0, 2*seconds(), func() {
		for range 3 {
			other.lead()
			time.Sleep(seconds() / 4)
			f.replica.lead()
			time.Sleep(seconds() / 4)
		}
	}).within(t, 0)
}

// TestLeadersRelieveEachOther: each ends in order, as when the manager is updated.
func TestLeadersRelieveEachOther(t *testing.T) {
	onlyLong(t)
	f := newFleet(t).open()
	f.scale(3)
	other := f.cluster.start("")
	t.Cleanup(func() { other.kill() })
	f.measure(0, 2*seconds(), func() {
		for range 4 {
			f.replica.retire()
			gone := f.replica.address
			time.Sleep(300 * time.Millisecond)
			other.lead()
			f.replica, other = other, f.cluster.start(gone)
			time.Sleep(seconds() / 3)
		}
	}).within(t, 0.8)
}

// TestTwoClustersShareARedis: two installations with a policy of the same name draw on one store, each with more load than all of it. An account that the store
// does not know begins with nothing, and half of it is left to who may hold something: the first seconds bring little.
func TestTwoClustersShareARedis(t *testing.T) {
	onlyLong(t)
	redis := redisserver.New(t)
	redis.Run()
	f := newFleet(t)
	f.cluster.store, f.cluster.name = redis.Address, "east"
	f.open().scale(2)
	other := f.sibling()
	other.cluster.store, other.cluster.name = redis.Address, "west"
	other.open().scale(2)
	stop := other.offer(0)
	f.measure(0, seconds(), func() {}).within(t, 0.25)
	stop()
	other.calls.Wait()
}
