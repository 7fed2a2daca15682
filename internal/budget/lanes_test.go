// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"
	"time"
)

func TestAnOlderHeadOfTheLaneIsNotStarvedByAnotherQueue(t *testing.T) {
	m := newSim(t, Config{Buckets: []Bucket{
		{Name: "b", Rate: 10, Capacity: 1000, Window: time.Minute, StartEmpty: true},
		{Name: "model", Rate: 1000, Capacity: 1000, Window: time.Minute},
	}})
	big := m.call("b", 200)
	big.Costs = append(big.Costs, Cost{Bucket: m.id("model"), Amount: 1})
	m.submit(0, big)
	for at := time.Duration(0); at < 30*time.Second; at += 500 * time.Millisecond {
		c := m.call("b", 10)
		c.Deadline = origin.Add(at + time.Minute)
		m.submit(at, c)
	}
	if big.left != 20*time.Second {
		t.Errorf("the older head left at %v, want 20s", big.left)
	}
}

func TestQueuesAreBounded(t *testing.T) {
	cfg := one(100, 1)
	cfg.Lanes = []Lane{{Name: "default", Share: 1, MaxDepth: 2, MaxBytes: 100, MaxWait: 50 * time.Second}}
	m := newSim(t, cfg)
	m.submit(0, m.call("b", 100))
	waiting := m.call("b", 10)
	waiting.Bytes = 60
	m.submit(0, waiting)
	heavy := m.call("b", 10)
	heavy.Bytes = 50
	if v := m.submit(0, heavy); v.Reason != ReasonQueueFull || v.Wait != 20*time.Second {
		t.Errorf("over the bytes: %+v", v)
	}
	m.submit(0, m.call("b", 10))
	if v := m.submit(0, m.call("b", 10)); v.Reason != ReasonQueueFull || v.Wait != 30*time.Second {
		t.Errorf("over the depth: %+v", v)
	}
	m.s.Cancel(&waiting.Call, m.now)
	if v := m.submit(0, m.call("b", 41)); v.Reason != ReasonDeadline || v.Wait != 51*time.Second {
		t.Errorf("over the age: %+v", v)
	}
	// Slots have no predictable end, so there the age itself ends the wait.
	cfg.Buckets = []Bucket{{Name: "slots", Kind: Slots, Capacity: 1}}
	m = newSim(t, cfg)
	m.onAdmit = func(*simCall) {}
	m.submit(0, m.call("slots", 1))
	old := m.call("slots", 1)
	m.submit(0, old)
	m.runTo(50 * time.Second)
	if old.Verdict().State != Queued {
		t.Errorf("at its last moment: %+v", old.Verdict())
	}
	m.runTo(51 * time.Second)
	if v := old.Verdict(); v.Reason != ReasonQueueExpired || v.Bucket != m.id("slots") || m.expired != 1 {
		t.Errorf("after it: %+v", v)
	}
}

func TestSetsOfBucketsAreBounded(t *testing.T) {
	var cfg Config
	for i := range 8 {
		cfg.Buckets = append(cfg.Buckets, Bucket{Name: string(rune('a' + i)), Rate: 0.001, Capacity: 1, Window: time.Minute, StartEmpty: true})
	}
	m := newSim(t, cfg)
	full := 0
	for set := 1; set < 256; set++ {
		c := &simCall{}
		for i := range 8 {
			if set>>i&1 == 1 {
				c.Costs = append(c.Costs, Cost{Bucket: m.id(string(rune('a' + i))), Amount: 0.01})
			}
		}
		if v := m.submit(0, c); v.Reason == ReasonQueueFull {
			full++
		}
	}
	if full != 255-maxQueues {
		t.Errorf("%d sets were refused, want all but %d", full, maxQueues)
	}
}

func TestBorrowingIsSharedByVirtualTime(t *testing.T) {
	// Two lanes without a share, one with calls twice as large. What comes back at once is shared in tokens.
	m := newSim(t, Config{
		Buckets: []Bucket{{Name: "b", Rate: 0.001, Capacity: 1000, Window: time.Minute}},
		Lanes:   []Lane{{Name: "x"}, {Name: "y"}, {Name: "z"}},
	})
	m.onAdmit = func(*simCall) {}
	all := m.call("b", 1000)
	all.Lane = 2
	m.submit(0, all)
	got := map[int]float64{}
	m.onAdmit = func(c *simCall) { got[c.Lane] += c.holds[0].amount }
	for range 100 {
		for lane, amount := range []float64{20, 10} {
			c := m.call("b", amount)
			c.Lane = lane
			m.submit(0, c)
		}
	}
	m.s.Settle(&all.Call, []Cost{{Bucket: m.id("b"), Amount: 400}}, m.now)
	m.runTo(0)
	if got[0] != 300 || got[1] != 300 {
		t.Errorf("x took %v, y %v of 600", got[0], got[1])
	}
}

func TestACallWithoutRoomBesideTheOthersGoesAloneWhenFull(t *testing.T) {
	cfg := one(100, 10)
	cfg.Lanes = []Lane{{Name: "x", Share: 0.5}, {Name: "y", Share: 0.5}}
	m := newSim(t, cfg)
	m.runTo(10 * time.Second)
	if v := m.submit(10*time.Second, m.call("b", 90)); v.State != Admitted {
		t.Fatalf("on a full bucket: %+v", v)
	}
	m.checkSound(false)
	// Now the level is 10. Nobody else has come lately, so the bucket is full again in 9s.
	c := m.call("b", 90)
	if v := m.submit(10*time.Second, c); v.State != Queued || v.Wait != 9*time.Second {
		t.Fatalf("behind it: %+v", v)
	}
	m.runTo(19 * time.Second)
	if c.left != 19*time.Second {
		t.Errorf("left at %v", c.left)
	}
	// While another lane wants its share, only the own rate counts: from a credit of 0, 18s.
	other, late := m.call("b", 80), m.call("b", 90)
	other.Lane, late.Deadline = 1, origin.Add(36*time.Second)
	m.submit(19*time.Second, other)
	if v := m.submit(19*time.Second, late); v.Reason != ReasonDeadline || v.Wait != 18*time.Second {
		t.Errorf("beside another lane: %+v", v)
	}
}

func TestOutsideTheConditionsNobodyStarves(t *testing.T) {
	// Two heads that do not fit into the bucket together both go.
	cfg := one(100, 10)
	cfg.Buckets[0].StartEmpty = true
	cfg.Lanes = []Lane{{Name: "x", Share: 0.5}, {Name: "y", Share: 0.5}}
	m := newSim(t, cfg)
	var calls []*simCall
	for i := range 6 {
		c := m.call("b", 80)
		c.Lane = i % 2
		m.submit(0, c)
		calls = append(calls, c)
	}
	m.runTo(2 * time.Minute)
	for i, c := range calls {
		if c.left == 0 {
			t.Errorf("call %d never left", i)
		}
	}
}

func TestALanesDebtEndsWhenTheLevelBacksTheOthers(t *testing.T) {
	cfg := one(100, 10)
	cfg.Lanes = []Lane{{Name: "x", Share: 0.1}, {Name: "y", Share: 0.9}}
	m := newSim(t, cfg)
	m.runTo(10 * time.Second)
	m.onAdmit = func(*simCall) {}
	c := m.call("b", 10)
	m.submit(10*time.Second, c)
	m.s.Settle(&c.Call, []Cost{{Bucket: m.id("b"), Amount: 300}}, m.now)
	m.runTo(2 * time.Minute)
	m.level("b")
	if e := m.s.slots[0].accounts[0].credit; e < 0 {
		t.Errorf("the bucket is full, the lane still owes %v", -e)
	}
}

func TestARefundIsThePayersCredit(t *testing.T) {
	cfg := one(100, 10)
	cfg.Buckets[0].StartEmpty = true
	cfg.Lanes = []Lane{{Name: "x", Share: 0.5}, {Name: "y", Share: 0.5}}
	m := newSim(t, cfg)
	m.runTo(5 * time.Second)
	m.onAdmit = func(*simCall) {}
	c := m.call("b", 25)
	m.submit(5*time.Second, c)
	m.s.Settle(&c.Call, []Cost{{Bucket: m.id("b"), Amount: 5}}, m.now)
	b := m.s.slots[0]
	if got := b.accounts[0].credit; !near(got, 20, 1e-9) || !near(b.level, 45, 1e-9) {
		t.Errorf("credit %v and level %v, want 20 and 45", got, b.level)
	}
}

func TestANewCallDoesNotHarmTheLanesOtherQueue(t *testing.T) {
	m := newSim(t, Config{Buckets: []Bucket{
		{Name: "b", Rate: 10, Capacity: 1000, Window: time.Minute, StartEmpty: true},
		{Name: "model", Rate: 1000, Capacity: 1000, Window: time.Minute},
	}})
	for range 6 {
		c := m.call("b", 100)
		c.Deadline = origin.Add(time.Minute)
		if v := m.submit(0, c); v.State != Queued {
			t.Fatalf("%+v", v)
		}
	}
	// The last of them leaves at 60s exactly. A call of another queue would have time, but not they.
	c := m.call("b", 100)
	c.Costs = append(c.Costs, Cost{Bucket: m.id("model"), Amount: 1})
	c.Deadline = origin.Add(10 * time.Minute)
	if v := m.submit(0, c); v.State != Refused {
		t.Errorf("%+v", v)
	}
	m.runTo(time.Minute)
	if m.expired+m.late > 0 || m.spent[m.id("b")] != 600 {
		t.Errorf("%d expired, %d late, %v spent", m.expired, m.late, m.spent[m.id("b")])
	}
}

func TestAReusedCallHasNoOldCommitment(t *testing.T) {
	m := newSim(t, one(100, 1))
	m.submit(0, m.call("b", 100))
	a, b, c := m.call("b", 10), m.call("b", 10), m.call("b", 10)
	m.submit(0, a)
	m.runTo(10 * time.Second)
	m.submit(10*time.Second, b)
	m.submit(10*time.Second, c)
	a.Deadline = time.Time{}
	m.submit(10*time.Second, a)
	m.runTo(30 * time.Second)
	if c.left != 30*time.Second || a.left != 10*time.Second {
		t.Errorf("c left at %v, a again at %v", c.left, a.left)
	}
}

func TestACommittedRetryComesBeforeOthersThatAreMoreUrgent(t *testing.T) {
	m := newSim(t, one(100, 1))
	m.onAdmit = func(*simCall) {}
	m.submit(0, m.call("b", 100))
	a, head, urgent := m.call("b", 10), m.call("b", 10), m.call("b", 10)
	m.submit(0, a)
	m.runTo(10 * time.Second)
	m.submit(10*time.Second, head)
	urgent.Deadline = origin.Add(45 * time.Second)
	m.submit(10*time.Second, urgent)
	m.s.Settle(&a.Call, nil, m.now)
	m.s.Retry(&a.Call, origin.Add(11*time.Second), m.now)
	m.runTo(time.Minute)
	if head.left != 20*time.Second || a.left != 30*time.Second || urgent.left != 40*time.Second {
		t.Errorf("head %v, retry %v, urgent %v; want 20s, 30s, 40s", head.left, a.left, urgent.left)
	}
}
