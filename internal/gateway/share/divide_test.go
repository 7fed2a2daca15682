// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package share

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/coordinator/divide"
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/plan"
)

// most is how many gateways the policy allows for.
const most = 10

var divided = plan.Route{
	Name: "anthropic",
	Limits: []plan.Limit{{
		Name: "input-tokens", Budget: plan.InputTokens, Amount: 400_000, WindowSeconds: 60, Burst: 400_000,
	}},
	Lanes: []plan.Lane{
		{Name: "bulk", MinInputTokens: 20_000, LargestCallTokens: 60_000, SharePermille: 400, MaxDepth: 50, MaxWaitMillis: 60_000},
		{Name: "default", SharePermille: 600, LargestCallTokens: 4_000, MaxDepth: 50, MaxWaitMillis: 20_000},
	},
}

// member is one gateway of a fleet.
type member struct {
	id   string
	gate *admission.Gate
	// told is when it hears of its newest share; zero when it has.
	told  time.Time
	share admission.Share
	gone  chan struct{}
	calls sync.WaitGroup
}

// fleet is what a coordinator divides a limit among, and what all gateways sent.
type fleet struct {
	rand    *rand.Rand
	ledger  *divide.Ledger
	members []*member
	joins   int
	excess  float64 // the largest that was stated
	paused  atomic.Bool
	busy    time.Duration // for how long it was not

	mu   sync.Mutex
	sent []sent
}

type sent struct {
	at     time.Time
	amount float64
}

func newFleet(seed int64) *fleet {
	return &fleet{rand: rand.New(rand.NewSource(seed)), ledger: divide.NewLedger()}
}

func (f *fleet) join() {
	m := &member{id: fmt.Sprint("g", f.joins), gone: make(chan struct{})}
	f.joins++
	m.gate = admission.New(admission.Options{
		Facts: facts.Facts{Name: "Anthropic", Charges: facts.AsProduced}, Shared: true,
	}, divided, most, time.Now())
	f.members = append(f.members, m)
	r := rand.New(rand.NewSource(f.rand.Int63()))
	m.calls.Go(func() { f.load(m, r) })
}

// leave ends a gateway as its drain does: nothing more is sent, then its share is free.
func (f *fleet) leave(i int) {
	m := f.members[i]
	f.members = slices.Delete(f.members, i, i+1)
	close(m.gone)
	m.calls.Wait()
	m.gate.Close()
	f.ledger.Drop(m.id)
}

// load asks for more than there is, small calls and now and then a large one.
func (f *fleet) load(m *member, r *rand.Rand) {
	for {
		select {
		case <-m.gone:
			return
		case <-time.After(time.Duration(r.ExpFloat64() * 150e6)):
		}
		if f.paused.Load() {
			continue
		}
		tokens, lane := float64(500+r.Intn(3000)), 1
		if r.Intn(20) == 0 {
			tokens, lane = 60_000, 0
		}
		m.calls.Go(func() { f.call(m, tokens, lane) })
	}
}

func (f *fleet) call(m *member, tokens float64, lane int) {
	now := time.Now()
	t := &admission.Ticket{
		Account: admission.Account{Fingerprint: 1, Model: "m"}, Metered: true, Lane: lane, Arrival: now,
		Deadline: now.Add(time.Minute), Estimate: admission.Estimate{Input: tokens, InputAtLeast: tokens},
	}
	v := m.gate.Enter(t, now)
	for v.State == budget.Queued {
		select {
		case <-t.Ready():
			v = m.gate.Verdict(t)
		case <-m.gone:
			m.gate.Release(t, admission.Settlement{Kind: admission.NotSent})
			return
		}
	}
	if v.State != budget.Admitted {
		return
	}
	f.mu.Lock()
	f.sent = append(f.sent, sent{time.Now(), tokens})
	f.mu.Unlock()
	m.gate.Release(t, admission.Settlement{Kind: admission.Kept})
}

// tick is one division: gateways that have heard confirm, all get what the ledger allows, and hear of it later.
func (f *fleet) tick() {
	l := divided.Limits[0]
	for _, m := range f.members {
		if !m.told.IsZero() && !time.Now().Before(m.told) {
			m.told = time.Time{}
			shares := map[string]admission.Share{l.Name: m.share}
			if m.share.RatePerSecond < min(divide.Rate(l)/float64(len(f.members)), divide.SafeRate(l, most)) {
				// There is nothing for it yet: it stays on the safe share.
				shares = nil
			}
			m.gate.SetShares(shares, time.Now())
			f.ledger.Confirm(m.id, 0)
		}
	}
	if len(f.members) == 0 {
		return
	}
	wants := make([]divide.Want, len(f.members))
	part := divide.Of(l, divide.Rate(l), len(f.members), 0, divide.Largest(l, divided.Lanes, 0))
	for i, m := range f.members {
		wants[i] = divide.Want{ID: m.id, Amount: part.RatePerSecond}
	}
	f.excess = max(f.excess, part.PossibleExcess)
	for i, granted := range f.ledger.Grant(divide.Rate(l), wants) {
		m := f.members[i]
		share := admission.Share{RatePerSecond: granted, Capacity: part.Capacity}
		if m.told.IsZero() && m.share != share {
			m.share, m.told = share, time.Now().Add(time.Duration(f.rand.Intn(900))*time.Millisecond)
		} else if m.share.RatePerSecond != granted {
			// A message is under way; what it says is older than the grant, which is confirmed with it.
			m.share.RatePerSecond = granted
		}
	}
}

// idle lets the buckets fill.
func (f *fleet) idle() {
	f.paused.Store(true)
	f.run(2 * time.Minute)
	f.paused.Store(false)
}

// run ticks for a time.
func (f *fleet) run(d time.Duration) {
	if !f.paused.Load() {
		f.busy += d
	}
	for range d / (100 * time.Millisecond) {
		f.tick()
		time.Sleep(100 * time.Millisecond)
	}
}

// check fails if any interval saw more than burst, refill and the stated excess, and what gateways that had just
// joined took of their safe shares, for two seconds each.
func (f *fleet) check(t *testing.T) {
	t.Helper()
	l := divided.Limits[0]
	rate := divide.Rate(l)
	bound := float64(l.Burst) + f.excess + 2*float64(f.joins)*divide.SafeRate(l, most)
	total, least, worst := 0.0, math.Inf(1), 0.0
	for _, s := range f.sent {
		at := rate * s.at.Sub(f.sent[0].at).Seconds()
		least = min(least, total-at)
		total += s.amount
		worst = max(worst, total-at-least)
	}
	if worst > bound*(1+1e-9) {
		t.Errorf("an interval saw %.0f above the refill; burst and stated excess are %.0f", worst, bound)
	}
	had := rate * f.busy.Seconds()
	if total < had {
		t.Errorf("%.0f of %.0f that came while there was load were used", total, had)
	}
	t.Logf("%d gateways, %.0f tokens, %.2f of the refill, worst burst %.0f of %.0f", f.joins, total, total/had, worst, bound)
}

func (f *fleet) end() {
	for len(f.members) > 0 {
		f.leave(0)
	}
}

func TestSharesOfGatewaysThatComeAndGoKeepTheLimit(t *testing.T) {
	for seed := range int64(6) {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(seed)
			f.join()
			for range 40 {
				switch n := len(f.members); {
				case n < 3 && f.rand.Intn(2) == 0:
					f.join()
				case n > 1 && f.rand.Intn(3) == 0:
					f.leave(f.rand.Intn(n))
				}
				if f.rand.Intn(5) == 0 {
					f.idle()
				}
				f.run(time.Duration(f.rand.Intn(12)) * time.Second)
			}
			f.end()
			f.check(t)
		})
	}
}

// Fault C10: Each replica held the whole limit, and each new one started with a full bucket.
// Headgate: What gateways hold together never exceeds the limit while they come, go, crash and are replaced, and a new
// one starts small.
func TestC10TwoToTenToTwoGatewaysKeepTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(1)
		for _, n := range []int{2, 10, 2} {
			for len(f.members) < n {
				f.join()
				f.run(time.Second)
			}
			for len(f.members) > n {
				f.leave(0)
				f.run(time.Second)
			}
			f.idle()
			f.run(2 * time.Minute)
		}
		f.end()
		f.check(t)
	})
}
