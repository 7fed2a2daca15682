// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/internal/budget"
)

// tenant is what an account says of one of its tenants.
type tenant struct {
	guaranteed, unlent, weight float64
	// most is its borrowing limit with the guarantee, 0 for none.
	most float64
}

// tenants is a pool of the canonical account, each tenant with a lane and a gateway.
func tenants(tb testing.TB, of ...tenant) *loaded {
	tb.Helper()
	cfg := canonical(len(of))
	for i, o := range of {
		name := fmt.Sprint("t", i)
		cfg.Lanes = append(cfg.Lanes, budget.Lane{Name: name, Group: name, Share: o.guaranteed})
		cfg.Groups = append(cfg.Groups, budget.Group{Name: name, Weight: o.weight, Unlent: o.unlent})
		if o.most > 0 {
			for _, b := range cfg.Budgets[:2] {
				cfg.Shadows = append(cfg.Shadows, Shadow{
					Name: name + "+" + b.Name, Of: b.Name, Lanes: []string{name}, Rate: o.most * b.Rate, Capacity: o.most * b.Capacity,
				})
			}
		}
	}
	l := newLoaded(tb, cfg, lan, 0)
	l.use = func(g *gateway) Use {
		return Use{Budgets: []string{"tokens", "requests"}, Lanes: []string{"t" + g.name[1:]}}
	}
	for range of {
		l.join(nil, 0)
	}
	return l
}

// got is which part of the rate each of the loads has had in a time.
func (l *loaded) got(d time.Duration, of ...*load) []float64 {
	for _, o := range of {
		o.served = 0
	}
	l.goOn(d)
	out := make([]float64, len(of))
	for i, o := range of {
		out[i] = o.served / (l.cfg.Budgets[0].Rate * d.Seconds())
	}
	return out
}

// fair is the max-min division of what nobody claims: each has the least of what it needs and what is sure to it, and of
// the rest those that need more as much for their weight.
func fair(of []tenant, needs []float64) []float64 {
	out, left := make([]float64, len(of)), 1.0
	for i, o := range of {
		out[i] = min(o.guaranteed, needs[i])
		left -= out[i]
	}
	for left > 1e-9 {
		weights := 0.0
		for i, o := range of {
			if needs[i]-out[i] > 1e-12 {
				weights += max(o.weight, 1e-12)
			}
		}
		if weights == 0 {
			break
		}
		each := left / weights
		for i, o := range of {
			more := min(needs[i]-out[i], each*max(o.weight, 1e-12))
			if more > 1e-12 {
				out[i] += more
				left -= more
			}
		}
	}
	return out
}

// What nobody claims is divided by max-min between tenants, in tokens and by weight, whatever the sizes of their calls and
// however much they ask for, and all of the rate is used.
func TestWhatNobodyClaimsIsDividedByMaxMin(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var of []tenant
		var needs []float64
		n := rapid.IntRange(2, 5).Draw(r, "tenants")
		for range n {
			of = append(of, tenant{
				guaranteed: rapid.Float64Range(0, 0.8/float64(n)).Draw(r, "guaranteed"),
				weight:     float64(rapid.IntRange(1, 4).Draw(r, "weight")),
			})
			needs = append(needs, rapid.SampledFrom([]float64{0.05, 0.2, 0.5, 1.5}).Draw(r, "needs"))
		}
		l := tenants(t, of...)
		var loads []*load
		const d = 4 * time.Minute
		part := 0.0
		for i, need := range needs {
			tokens := rapid.Float64Range(500, 4000).Draw(r, "tokens")
			part += tokens / (l.cfg.Budgets[0].Rate * d.Seconds())
			loads = append(loads, l.offer(i, &load{lane: fmt.Sprint("t", i), tokens: tokens, perSecond: need * l.cfg.Budgets[0].Rate / tokens}))
		}
		l.goOn(90 * time.Second)
		got, want := l.got(d, loads...), fair(of, needs)
		l.check()
		sum, all := 0.0, 0.0
		for i := range of {
			sum, all = sum+got[i], all+needs[i]
			if got[i] < want[i]*0.93-0.01 || got[i] > want[i]*1.07+0.02 {
				r.Errorf("tenant %d: %+v needs %.2f and had %.3f, fair is %.3f; all %.3f of %.3f", i, of[i], needs[i], got[i], want[i], got, want)
			}
		}
		// Calls are whole: of what each needs, one may have gone just before or go just after.
		if sum < 0.98*min(1, all)-part {
			r.Errorf("%.3f of the rate were used, %.2f is needed", sum, all)
		}
	})
}

// A tenant with large calls has its part of what nobody claims beside one with small calls, and priorities of lanes do not
// count between tenants.
func TestLargeCallsBorrowTheirPart(t *testing.T) {
	l := tenants(t, tenant{guaranteed: 0.2}, tenant{guaranteed: 0.2}, tenant{guaranteed: 0.6})
	l.cfg.Lanes[0].Priority = 100
	l.apply(l.cfg)
	small := l.offer(0, &load{lane: "t0", perSecond: 8, tokens: 1000})
	large := l.offer(1, &load{lane: "t1", large: 40_000})
	l.goOn(2 * time.Minute)
	got := l.got(10*time.Minute, small, large)
	l.check()
	t.Logf("%.3f", got)
	if got[0] < 0.42 || got[1] < 0.42 {
		t.Errorf("they had %.3f of the rate, not halves", got)
	}
}

// A tenant never exceeds its borrowing limit: in no interval it has more than (g + borrow)·R·t and the capacity, though
// nobody else asks for anything, and it has all of that.
func TestATenantStaysWithinItsBorrowingLimit(t *testing.T) {
	for _, large := range []float64{0, 30_000, 90_000} {
		t.Run(fmt.Sprint(large), func(t *testing.T) {
			l := tenants(t, tenant{guaranteed: 0.1, most: 0.2}, tenant{guaranteed: 0.5})
			mine := &load{lane: "t0", perSecond: 8, tokens: 1000, large: large}
			l.offer(0, mine)
			s := l.cfg.Shadows[0]
			m := &meter{rate: s.Rate, least: math.Inf(1)}
			had, used := 0.0, 0.0
			note := func() {
				l.step()
				m.spend(l.now, mine.served-had)
				had = mine.served
			}
			for range 3 {
				// Idle, it saves up what its limit allows and no more.
				l.loads[l.gateways[0]] = nil
				l.run(l.now+8*time.Minute, note)
				l.offer(0, mine)
				l.run(l.now+time.Minute, note)
				before := mine.served
				l.run(l.now+5*time.Minute, note)
				used += mine.served - before
			}
			l.check()
			t.Logf("the worst interval had %.0f of %.0f above the rate", m.worst, s.Capacity)
			if m.worst > max(s.Capacity, large)*(1+1e-9) {
				t.Errorf("an interval had %v above its rate, its capacity is %v", m.worst, s.Capacity)
			}
			if used /= s.Rate * 900; used < 0.97 {
				t.Errorf("it had %.3f of what it may have", used)
			}
		})
	}
}

// What a tenant does not lend nobody else has, however idle it is, and it is there at once. What several do not lend adds up.
func TestWhatIsNotLentIsLeft(t *testing.T) {
	l := tenants(t, tenant{guaranteed: 0.4, unlent: 1}, tenant{guaranteed: 0.4, unlent: 0.5}, tenant{guaranteed: 0.2})
	other := l.offer(2, &load{lane: "t2", perSecond: 10, tokens: 1000})
	l.goOn(3 * time.Minute)
	got := l.got(5*time.Minute, other)
	t.Logf("%.3f", got)
	if want := 1 - 0.4 - 0.2; math.Abs(got[0]-want) > 0.01 {
		t.Errorf("it had %.3f of the rate, lent is %v", got[0], want)
	}
	// Its whole part of the burst is ready.
	mine := l.offer(0, &load{lane: "t0", large: 0.35 * l.cfg.Budgets[0].Capacity})
	l.goOn(3 * time.Second)
	if len(mine.waits) == 0 || mine.waits[0] > 2*time.Second {
		t.Errorf("its call waited %v", mine.waits)
	}
	l.check()
}

// Lanes of the tenant itself borrow what it does not lend to others.
func TestWhatIsNotLentIsTheTenantsOwn(t *testing.T) {
	l := tenants(t, tenant{guaranteed: 0.3, unlent: 1}, tenant{guaranteed: 0.3})
	cfg := l.cfg
	cfg.Lanes = append([]budget.Lane{{Name: "t0'", Group: "t0", Share: 0.3}}, cfg.Lanes...)
	l.apply(cfg)
	mine := l.offer(0, &load{lane: "t0", perSecond: 10, tokens: 1000})
	other := l.offer(1, &load{lane: "t1", perSecond: 10, tokens: 1000})
	l.goOn(2 * time.Minute)
	got := l.got(5*time.Minute, mine, other)
	l.check()
	t.Logf("%.3f", got)
	if got[0] < 0.59 || got[1] < 0.29 {
		t.Errorf("they had %.3f of the rate: 0.6 is the first one's own", got)
	}
}

// A tenant that comes back to its guarantee has it within a report interval and c/(g·R), while others have borrowed all.
func TestTenantsReclaimWithinAnInterval(t *testing.T) {
	of := []tenant{{guaranteed: 0.3}, {guaranteed: 0.3, weight: 5}, {guaranteed: 0.4, most: 0.9}}
	l := tenants(t, of...)
	for i := 1; i < 3; i++ {
		l.offer(i, &load{lane: fmt.Sprint("t", i), perSecond: 6, tokens: 1500})
	}
	l.goOn(5 * time.Minute)
	for _, large := range []float64{2000, 20_000, 60_000} {
		o := l.offer(0, &load{lane: "t0", large: large})
		l.goOn(2 * time.Minute)
		l.loads[l.gateways[0]] = nil
		bound := time.Duration(large/(0.3*l.cfg.Budgets[0].Rate)*1e9) + l.cfg.Interval + 4*lan.delay
		worst := time.Duration(0)
		for _, w := range o.waits {
			worst = max(worst, w)
		}
		t.Logf("%v tokens: worst %v of %d, bound %v", large, worst, len(o.waits), bound)
		if len(o.waits) < 3 || worst > bound {
			t.Errorf("%v tokens: worst %v of %d, bound %v", large, worst, len(o.waits), bound)
		}
		l.goOn(time.Minute)
	}
	l.check()
}

// What a holder may not touch it does not get, and is not charged for.
func TestAHolderTouchesWhatItMayAlone(t *testing.T) {
	p, now := New(canonical(3, budget.Lane{Name: "a", Share: 0.5}, budget.Lane{Name: "b", Share: 0.5}), Leader{Epoch: 1, First: true}, origin), origin
	p.Join("h", Use{Budgets: []string{"requests"}, Lanes: []string{"a"}}, now)
	h := &teller{r: Report{Holder: "h", Counts: []Count{{Budget: "tokens", Held: 5}, {Budget: "requests"}}, Seen: []Amount{{"tokens", -1e9}}}}
	for range 10 {
		now = now.Add(time.Second)
		h.r.Wants = []Want{
			{Lane: "a", Units: []Amount{{"tokens", 1000}, {"requests", h.granted("a", "requests") + 10}}},
			{Lane: "b", Units: []Amount{{"tokens", 1000}, {"requests", 10}}},
			{Lane: "b", Bulk: 1, Units: []Amount{{"requests", 10}}},
		}
		h.tell(t, p, now)
	}
	f := p.Figures(now)
	if f.Budgets[0].Granted != 0 || f.Budgets[0].Level < 60_000 {
		t.Errorf("tokens: %+v", f.Budgets[0])
	}
	if h.granted("a", "requests") == 0 || h.granted("b", "requests") != 0 {
		t.Errorf("granted %+v", h.grant.Lanes)
	}
	// Its safe share is left of what it may touch alone.
	q := New(canonical(3), Leader{Epoch: 1, First: true}, origin)
	q.Join("h", Use{Budgets: []string{"requests"}, Lanes: []string{"default"}}, origin)
	if f := q.Figures(origin); f.Budgets[0].Rate != 400_000.0/60 || math.Abs(f.Budgets[1].Rate-4000.0/60*5/6) > 1e-9 {
		t.Errorf("%+v", f.Budgets)
	}
	q.Forget("h", origin)
	if f := q.Figures(origin); f.Silent != 0 || f.Budgets[1].Rate != 4000.0/60 {
		t.Errorf("%+v", f)
	}
}

func (h *teller) granted(lane, name string) float64 {
	for _, l := range h.grant.Lanes {
		if l.Lane == lane {
			return units(l.Units, name)
		}
	}
	return 0
}
