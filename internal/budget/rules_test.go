// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"math"
	"testing"
	"time"
)

func TestFit(t *testing.T) {
	for name, tc := range map[string]struct {
		amount, atLeast, capacity, start float64
		want                             State
		reason                           Reason
		wait                             time.Duration
	}{
		"estimate above the capacity goes when full":  {amount: 128_000, atLeast: 10, capacity: 8000, start: 8000, want: Admitted},
		"and waits until it is full":                  {amount: 128_000, atLeast: 10, capacity: 8000, start: 7000, want: Queued, wait: 10 * time.Second},
		"lower bound above the capacity never fits":   {amount: 512_000, atLeast: 512_000, capacity: 400_000, start: 400_000, want: Refused, reason: ReasonTooLarge},
		"capacity zero lets nothing pass":             {amount: 1, capacity: 0, want: Refused, reason: ReasonNothing},
		"not even nothing":                            {amount: 0, capacity: 0, want: Refused, reason: ReasonNothing},
		"an amount of zero waits for nobody":          {amount: 0, capacity: 10, start: 0, want: Admitted},
		"NaN is no amount":                            {amount: math.NaN(), capacity: 10, start: 0, want: Admitted},
		"infinity is the capacity":                    {amount: math.Inf(1), capacity: 10, start: 10, want: Admitted},
		"exactly the level":                           {amount: 10, atLeast: 10, capacity: 10, start: 10, want: Admitted},
		"a negative amount gives nothing to a bucket": {amount: -5, capacity: 10, start: 0, want: Admitted},
	} {
		t.Run(name, func(t *testing.T) {
			m := newSim(t, one(tc.capacity, 100))
			b := m.s.slots[0]
			b.level = tc.start
			m.onAdmit = func(*simCall) {}
			v := m.submit(0, &simCall{Call: Call{Costs: []Cost{{Bucket: b.id, Amount: tc.amount, AtLeast: tc.atLeast}}}})
			if v.State != tc.want || v.Reason != tc.reason || v.Wait != tc.wait {
				t.Errorf("got %+v", v)
			}
			if b.level < 0 || b.level > tc.start || math.IsNaN(b.level) {
				t.Errorf("level %v", b.level)
			}
		})
	}
}

func TestRetryKeepsItsPlaceAndHoldsNothing(t *testing.T) {
	cfg := one(100, 1)
	cfg.Buckets = append(cfg.Buckets, Bucket{Name: "slots", Kind: Slots, Capacity: 1})
	m := newSim(t, cfg)
	m.onAdmit = func(*simCall) {}
	costs := []Cost{{Bucket: m.id("b"), Amount: 60}, {Bucket: m.id("slots"), Amount: 1}}
	a := &simCall{Call: Call{Costs: costs, Deadline: origin.Add(2 * time.Minute)}}
	m.submit(0, a)
	// Refused upstream: everything comes back, and it waits 10 s.
	m.s.Settle(&a.Call, []Cost{{Bucket: costs[0].Bucket, Amount: 0}}, m.now)
	if v := m.s.Retry(&a.Call, origin.Add(10*time.Second), m.now); v.State != Queued || v.Wait != 10*time.Second {
		t.Fatalf("retry = %+v", v)
	}
	if b, s := m.level("b"), m.level("slots"); b != 100 || s != 1 {
		t.Fatalf("levels while it waits: %v %v", b, s)
	}
	// Another call of its queue borrows meanwhile, but not what the retry is owed.
	small := &simCall{Call: Call{Costs: []Cost{{Bucket: m.id("b"), Amount: 40}, costs[1]}}}
	if v := m.submit(time.Second, small); v.State != Admitted {
		t.Fatalf("small = %+v", v)
	}
	m.s.Settle(&small.Call, nil, m.now)
	next := &simCall{Call: Call{Costs: costs}}
	if v := m.submit(2*time.Second, next); v.State != Queued {
		t.Fatalf("a call that needs what the retry is owed = %+v", v)
	}
	m.runTo(10 * time.Second)
	if a.left != 10*time.Second || next.left != 0 {
		t.Errorf("the retry left at %v, the other at %v", a.left, next.left)
	}
	if a.Arrival != origin || a.Deadline != origin.Add(2*time.Minute) {
		t.Error("arrival or deadline changed")
	}
}

func TestRetryThatCannotStartInTimeIsRefusedBeforeWaiting(t *testing.T) {
	m := newSim(t, one(100, 1))
	m.onAdmit = func(*simCall) {}
	c := m.call("b", 10)
	c.Deadline = origin.Add(4 * time.Second)
	m.submit(0, c)
	m.s.Settle(&c.Call, nil, m.now)
	v := m.s.Retry(&c.Call, origin.Add(9*time.Second), m.now)
	if v.State != Refused || v.Reason != ReasonDeadline || v.Wait != 9*time.Second {
		t.Errorf("retry = %+v", v)
	}
}

func TestCommittedRetryIsNotOvertakenWhenItsTimeComes(t *testing.T) {
	m := newSim(t, one(100, 1))
	m.onAdmit = func(*simCall) {}
	a, b := m.call("b", 100), m.call("b", 50)
	m.submit(0, a)
	m.submit(0, b)
	m.s.Settle(&a.Call, nil, m.now)
	if v := m.s.Retry(&a.Call, origin.Add(5*time.Second), m.now); v.State != Queued {
		t.Fatalf("%+v", v)
	}
	m.runTo(50 * time.Second)
	if b.left != 50*time.Second {
		t.Errorf("the committed head left at %v, want 50s", b.left)
	}
	c := m.call("b", 1)
	m.submit(51*time.Second, c)
	m.runTo(150 * time.Second)
	if a.left != 150*time.Second || c.left != 0 {
		t.Errorf("the retry left at %v, want 150s; a newcomer at %v, want after it", a.left, c.left)
	}
}

func TestARefusalIsAFactAboutTheLevel(t *testing.T) {
	m := newSim(t, one(1000, 10))
	m.onAdmit = func(*simCall) {}
	before := m.call("b", 300)
	m.submit(0, before)
	// 700 are left by our arithmetic; the provider says 100.
	m.s.Lower(m.id("b"), 100, m.now)
	if got := m.level("b"); got != 100 {
		t.Fatalf("level %v", got)
	}
	m.s.Lower(m.id("b"), 900, m.now)
	if got := m.level("b"); got != 100 {
		t.Fatalf("a higher fact lifted the level to %v", got)
	}
	after := m.call("b", 50)
	m.submit(0, after)
	// The reservation from before the fact comes back: the level stays.
	m.s.Settle(&before.Call, []Cost{{Bucket: m.id("b"), Amount: 0}}, m.now)
	if got := m.level("b"); got != 50 {
		t.Errorf("level %v after the old refund, want 50", got)
	}
	m.s.Settle(&after.Call, []Cost{{Bucket: m.id("b"), Amount: 20}}, m.now)
	if got := m.level("b"); got != 80 {
		t.Errorf("level %v after the new refund, want 80", got)
	}
	m.runTo(10 * time.Second)
	if got := m.level("b"); !near(got, 180, 1e-9) {
		t.Errorf("level %v after 10s, want 180", got)
	}
}

func TestAFactBelowZeroIsDebtOfAllLanesByShare(t *testing.T) {
	cfg := one(1000, 10)
	cfg.Lanes = []Lane{{Name: "bulk", Share: 0.4}, {Name: "chat", Share: 0.6}}
	m := newSim(t, cfg)
	m.s.Lower(m.id("b"), -100, m.now)
	bulk, chat := m.call("b", 40), m.call("b", 6)
	chat.Lane = 1
	m.submit(0, bulk)
	m.submit(0, chat)
	m.runTo(time.Minute)
	// Both owe for ten seconds, then chat's 6 take one second of its own rate; after that it is idle.
	if chat.left != 11*time.Second {
		t.Errorf("chat left at %v, want 11s", chat.left)
	}
	if bulk.left > 20*time.Second {
		t.Errorf("bulk left at %v, later than its own rate", bulk.left)
	}
}

func TestALaneOwesWhatItSpentBeyondItsReservations(t *testing.T) {
	cfg := one(1000, 10)
	cfg.Buckets[0].StartEmpty = true
	cfg.Lanes = []Lane{{Name: "bad", Share: 0.5}, {Name: "good", Share: 0.5}}
	m := newSim(t, cfg)
	good, bad := 0.0, 0.0
	m.onAdmit = func(c *simCall) {
		actual := c.holds[0].amount
		if c.Lane == 0 {
			actual *= 3
			bad += actual
		} else {
			good += actual
		}
		m.s.Settle(&c.Call, []Cost{{Bucket: m.id("b"), Amount: actual}}, m.now)
	}
	for at := time.Duration(0); at < 10*time.Minute; at += time.Second {
		for lane := range 2 {
			c := m.call("b", 10)
			c.Lane, c.Deadline = lane, origin.Add(at+20*time.Second)
			m.submit(at, c)
		}
	}
	if good < 0.48*6000 || bad > 0.55*6000 {
		t.Errorf("of 6000, the honest lane got %v, the other %v", good, bad)
	}
}

func TestSlotsAreNotLent(t *testing.T) {
	m := newSim(t, Config{
		Buckets: []Bucket{{Name: "slots", Kind: Slots, Capacity: 4}},
		Lanes:   []Lane{{Name: "bulk", Share: 0.5}, {Name: "chat", Share: 0.5}},
	})
	m.onAdmit = func(*simCall) {}
	var held []*simCall
	slot := func(lane int) *simCall {
		c := m.call("slots", 1)
		c.Lane = lane
		if m.submit(m.since(), c); c.Verdict().State == Admitted {
			held = append(held, c)
		}
		return c
	}
	slot(0)
	slot(0)
	third := slot(0)
	if len(held) != 2 || third.Verdict().State != Queued {
		t.Fatalf("bulk holds %d of its 2 slots, the third is %+v", len(held), third.Verdict())
	}
	if _, ok := m.s.Next(m.now); ok {
		t.Error("a lack of slots has no time, yet Next is due")
	}
	slot(1)
	slot(1)
	if len(held) != 4 {
		t.Fatalf("%d held, want 4", len(held))
	}
	m.s.Settle(&held[2].Call, nil, m.now)
	m.runTo(0)
	if third.Verdict().State != Queued {
		t.Error("bulk took a slot of chat")
	}
	m.s.Settle(&held[0].Call, nil, m.now)
	m.runTo(0)
	if third.Verdict().State != Admitted {
		t.Error("bulk did not get its own slot back")
	}
}

func TestHalfSlotsBlockNobody(t *testing.T) {
	m := newSim(t, Config{
		Buckets: []Bucket{{Name: "slots", Kind: Slots, Capacity: 1}},
		Lanes:   []Lane{{Name: "a", Share: 0.5}, {Name: "b", Share: 0.5}},
	})
	m.onAdmit = func(*simCall) {}
	if v := m.submit(0, m.call("slots", 1)); v.State != Admitted {
		t.Errorf("%+v", v)
	}
}

func TestCapsRefuseAndLanesKeepTheirShareOfWhatIsLeft(t *testing.T) {
	m := newSim(t, Config{
		Buckets: []Bucket{{Name: "day", Rate: 864.0 / 86400, Capacity: 1000, Window: 24 * time.Hour}},
		Lanes:   []Lane{{Name: "bulk", Share: 0.3}, {Name: "chat", Share: 0.7}},
	})
	m.runTo(time.Second)
	for i := range 3 {
		if v := m.submit(time.Second, m.call("day", 100)); v.State != Admitted {
			t.Fatalf("bulk call %d: %+v", i, v)
		}
	}
	v := m.submit(time.Second, m.call("day", 100))
	if v.State != Refused || v.Reason != ReasonCapReached || v.Bucket != m.id("day") {
		t.Fatalf("beyond its share: %+v", v)
	}
	if v.Wait < 9_999*time.Second {
		t.Errorf("wait %v, 100 at 0.01/s take 10,000s", v.Wait)
	}
	chat := m.call("day", 700)
	chat.Lane = 1
	if v := m.submit(time.Second, chat); v.State != Admitted {
		t.Errorf("chat's share: %+v", v)
	}
}

// A call that may start at any time is never too late, and nobody is refused for its sake: also one that its lane has no share
// for, and that others leave no room for now.
func TestACallWithoutADeadlineIsNeverLate(t *testing.T) {
	m := newSim(t, Config{
		Buckets: []Bucket{{Name: "a", Rate: 10, Capacity: 10, StartEmpty: true, Window: time.Minute}},
		Lanes:   []Lane{{Name: "none", Hold: -1, Group: "before"}, {Name: "c", Share: 0.5, Group: "c"}, {Name: "keeps", Share: 0.5, Group: "k"}},
	})
	id := m.id("a")
	large := &simCall{Call: Call{Costs: []Cost{{Bucket: id, Amount: 9}}}}
	m.submit(0, large)
	for i := range 4 {
		m.submit(0, &simCall{Call: Call{Lane: 1 + i%2, Costs: []Cost{{Bucket: id, Amount: 2}}}})
	}
	m.s.Lower(id, -5, m.now)
	another := &simCall{Call: Call{Costs: []Cost{{Bucket: id, Amount: 1}}}}
	m.submit(100*time.Millisecond, another)
	m.runTo(time.Minute)
	for _, c := range []*simCall{large, another} {
		if v := c.Verdict(); v.State != Settled {
			t.Errorf("%+v", v)
		}
	}
}
