// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/plan"
)

// spend sends small calls of 500 tokens for a time, one each 100 ms, each with 30 seconds' patience; it returns what went.
func (p *pair) spend(t *testing.T, d time.Duration) (went float64, refused int) {
	t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		k := ticket(500, 1, time.Millisecond)
		if v := p.Enter(k, time.Now()); v.State == budget.Admitted {
			went += 500
		} else {
			refused++
		}
		p.Release(k, admission.Settlement{Kind: admission.Kept})
	}
	return went, refused
}

// lose ends the lease.
func (p *pair) lose() {
	p.connect(false)
	time.Sleep(12 * time.Second)
}

// In mode Safe, half of an equal part of the rate is left, whatever there was: 1,000 a second among 5 gateways.
func TestSafeLeavesHalfOfAnEqualPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := full(t, shared(""))
		p.spend(t, 10*time.Second)
		p.lose()
		out := p.Outage(time.Now())
		if !out.Silent || out.Mode != "Safe" || out.Total < time.Second || out.Total > 4*time.Second {
			t.Errorf("%+v", out)
		}
		went, _ := p.spend(t, time.Minute)
		if went < 5500 || went > 6000+2000 {
			t.Errorf("%v went in a minute of 100 a second", went)
		}
		// A large call waits for it as others do: 8,000 at 40 of 100 a second.
		k := ticket(3000, 0, 110*time.Second)
		if v := p.Enter(k, time.Now()); v.State != budget.Queued {
			t.Fatalf("%+v", v)
		}
		if v, took := p.wait(t, k); v.State != budget.Admitted || took < 20*time.Second || took > 80*time.Second {
			t.Errorf("%+v after %v", v, took)
		}
		p.Release(k, admission.Settlement{Kind: admission.Kept})
		late := ticket(8000, 0, 20*time.Second)
		if v := p.Enter(late, time.Now()); v.State != budget.Refused || v.Reason != budget.ReasonDeadline || v.Amount != "60k/min, safe share 6k/min: no coordinator" {
			t.Errorf("%+v: it is told so at once", v)
		}
		p.Release(late, admission.Settlement{Kind: admission.NotSent})
		p.connect(true)
		time.Sleep(time.Second)
		if out := p.Outage(time.Now()); out.Silent || out.Total < time.Minute {
			t.Errorf("back again: %+v", out)
		}
		p.atRest(t)
	})
}

// A large call that waited for the pool has the safe share when nothing is heard for long, if that is in time.
func TestWhoWaitsAsideHasTheSafeShareInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, shared(""), 5, true)
		p.connect(true)
		time.Sleep(time.Second)
		k := ticket(3000, 0, 119*time.Second)
		p.connect(false)
		if v := p.Enter(k, time.Now()); v.State != budget.Queued {
			t.Fatalf("%+v", v)
		}
		// A lease of 10 seconds, 30 of hope, 3,000 at 40 a second from when the lease ended.
		if v, took := p.wait(t, k); v.State != budget.Admitted || took < 40*time.Second || took > 119*time.Second {
			t.Errorf("%+v after %v", v, took)
		}
		p.Release(k, admission.Settlement{Kind: admission.Kept})
		p.atRest(t)
	})
}

// LastGrant goes on at what was told last.
func TestLastGrantGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := full(t, shared(plan.LastGrant))
		p.spend(t, 30*time.Second)
		p.lose()
		went, _ := p.spend(t, time.Minute)
		// It was alone, and was told that it may expect all.
		if went < 25_000 || went > 62_000 {
			t.Errorf("%v went in a minute, of 1,000 a second that were expected and at most 5,000 asked for", went)
		}
		if out := p.Outage(time.Now()); out.Mode != plan.LastGrant {
			t.Errorf("%+v", out)
		}
	})
}

// Open binds nobody while nothing is heard, and what was spent is owed after: there is no second burst.
func TestOpenBindsNobodyAndIsPaidForAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := full(t, shared(plan.Open))
		p.lose()
		went, refused := p.spend(t, 30*time.Second)
		if refused > 0 {
			t.Errorf("%d of the calls were refused", refused)
		}
		for range 5 {
			k := ticket(15_000, 0, time.Second)
			if v := p.Enter(k, time.Now()); v.State != budget.Admitted {
				t.Errorf("a large call: %+v", v)
			}
			went += 15_000
			p.Release(k, admission.Settlement{Kind: admission.Kept})
		}
		p.connect(true)
		time.Sleep(20 * time.Millisecond)
		if !p.Leased(time.Now()) {
			t.Fatal("there is no lease")
		}
		p.mu.Lock()
		balance := p.holder.Balance("itpm", p.at)
		p.mu.Unlock()
		if balance > -15_000 || balance < -burst {
			t.Errorf("owes %v after %v were spent in half a minute of 1,000 a second", balance, went)
		}
		after, _ := p.spend(t, 10*time.Second)
		if after > 10_000 {
			t.Errorf("%v went in ten seconds after it", after)
		}
		time.Sleep(time.Minute)
		k := ticket(500, 1, time.Second)
		if v := p.Enter(k, time.Now()); v.State == budget.Queued {
			p.wait(t, k)
		}
		if v := p.Verdict(k); v.State != budget.Admitted {
			t.Errorf("%+v: the debt is not paid off", v)
		}
	})
}

// C11: a gateway that begins has the safe share at first, neither nothing nor more, also in mode Open: it may be heard in a moment.
func TestC11ANewGatewayBeginsOnTheSafeShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, mode := range []string{"", plan.LastGrant, plan.Open} {
			p := newPair(t, shared(mode), 5, true)
			if went, _ := p.spend(t, 9*time.Second); went < 500 || went > 1000 {
				t.Errorf("%q: %v went of 100 a second", mode, went)
			}
			time.Sleep(2 * time.Second)
			went, _ := p.spend(t, 5*time.Second)
			if open := went > 2000; open != (mode == plan.Open) {
				t.Errorf("%q: %v went after the time of a lease", mode, went)
			}
		}
	})
}

// One that was restarted has it when the lease of the one before is over for sure.
func TestARestartedGatewayWaitsForTheLeaseBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, shared(""), 5, false)
		k := ticket(100, 1, time.Minute)
		if v := p.Enter(k, time.Now()); v.State != budget.Queued {
			t.Fatalf("%+v", v)
		}
		if v, took := p.wait(t, k); v.State != budget.Admitted || took < 11*time.Second || took > 12*time.Second {
			t.Errorf("%+v after %v, want 10.1 seconds and 100 at 100 a second", v, took)
		}
		p.Release(k, admission.Settlement{Kind: admission.Kept})
		// What it did not have is no debt.
		p.connect(true)
		time.Sleep(30 * time.Millisecond)
		other := newPair(t, shared(""), 5, false)
		other.connect(true)
		time.Sleep(20 * time.Millisecond)
		other.mu.Lock()
		defer other.mu.Unlock()
		if balance := other.holder.Balance("itpm", other.at); balance < 0 {
			t.Errorf("it begins with a debt of %v", balance)
		}
	})
}

// A host that slept has lost its lease, though its clock stood still.
func TestASuspendedHostHasNoLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := full(t, shared(""))
		p.connect(false)
		if !p.Leased(time.Now()) {
			t.Fatal("there is no lease")
		}
		p.Member.mu.Lock()
		p.elapsed.pass(20*time.Millisecond, 0)
		p.Member.mu.Unlock()
		if !p.Leased(time.Now()) {
			t.Error("a clock that was set by 20 ms costs the lease")
		}
		p.Member.mu.Lock()
		p.elapsed.pass(time.Minute, time.Second)
		p.Member.mu.Unlock()
		if p.Leased(time.Now()) {
			t.Error("the lease outlives the sleep")
		}
		if level := p.Figures(time.Now()).Limits[1].Level; level > 1 {
			t.Errorf("%v of what was granted is left", level)
		}
		p.Member.mu.Lock()
		p.elapsed.pass(-time.Hour, 0)
		p.Member.mu.Unlock()
		p.connect(true)
		time.Sleep(1100 * time.Millisecond)
		if !p.Leased(time.Now()) {
			t.Error("a clock that went back keeps it from a lease")
		}
	})
}
