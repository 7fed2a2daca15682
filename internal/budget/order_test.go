// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"
	"time"
)

func TestANewcomerDoesNotTakeTheLevelItsHeadWaitsFor(t *testing.T) {
	cfg := one(100, 1)
	cfg.Lanes = []Lane{{Name: "x", Share: 0.5}, {Name: "y", Share: 0.5}}
	m := newSim(t, cfg)
	m.submit(0, m.call("b", 60))
	head, small := m.call("b", 50), m.call("b", 1)
	m.submit(0, head)
	if v := m.submit(0, small); v.State != Queued {
		t.Errorf("a call behind the head = %+v", v)
	}
	m.runTo(time.Minute)
	if head.left == 0 || small.left < head.left {
		t.Errorf("the head left at %v, the call behind it at %v", head.left, small.left)
	}
}

func TestABorrowerDoesNotPassAHeadThatIsDue(t *testing.T) {
	cfg := one(100, 10)
	cfg.Buckets[0].StartEmpty = true
	cfg.Lanes = []Lane{{Name: "x"}, {Name: "y"}}
	m := newSim(t, cfg)
	head, other := m.call("b", 50), m.call("b", 50)
	m.submit(0, head)
	other.Lane, other.Owner = 1, other
	// The head is due at 5s, but a newcomer comes before Advance was run.
	m.now = origin.Add(5 * time.Second)
	if v := m.s.Submit(&other.Call, m.now); v.State != Queued {
		t.Fatalf("newcomer = %+v", v)
	}
	m.runTo(5 * time.Second)
	if head.left != 5*time.Second || other.left != 0 {
		t.Errorf("the head left at %v, the newcomer at %v", head.left, other.left)
	}
}

func TestANewcomerDoesNotPassARetryThatIsDue(t *testing.T) {
	m := newSim(t, one(100, 1))
	m.onAdmit = func(*simCall) {}
	a, b, c := m.call("b", 1), m.call("b", 1), m.call("b", 1)
	for i, x := range []*simCall{a, b} {
		m.submit(0, x)
		m.s.Settle(&x.Call, nil, m.now)
		m.s.Retry(&x.Call, origin.Add(time.Duration(20-10*i)*time.Second), m.now)
	}
	m.now = origin.Add(10 * time.Second)
	c.Owner = c
	if v := m.s.Submit(&c.Call, m.now); v.State != Queued {
		t.Errorf("newcomer = %+v", v)
	}
	m.runTo(10 * time.Second)
	if b.left != 10*time.Second || c.left != 10*time.Second || a.left != 0 {
		t.Errorf("left at %v %v %v", a.left, b.left, c.left)
	}
}

func TestARetryKeepsItsCommitmentBesideTheLanesOtherQueue(t *testing.T) {
	cfg := one(1000, 10)
	cfg.Buckets[0].StartEmpty = true
	cfg.Buckets = append(cfg.Buckets, Bucket{Name: "model", Rate: 1000, Capacity: 1000, Window: time.Minute})
	m := newSim(t, cfg)
	m.onAdmit = func(*simCall) {}
	a, h := m.call("b", 50), m.call("b", 100)
	a.Costs = append(a.Costs, Cost{Bucket: m.id("model"), Amount: 1})
	m.submit(0, a)
	m.runTo(5 * time.Second)
	m.submit(5*time.Second, h)
	m.s.Settle(&a.Call, nil, m.now)
	m.s.Retry(&a.Call, origin.Add(6*time.Second), m.now)
	m.runTo(time.Minute)
	if a.left != 10*time.Second || h.left != 20*time.Second {
		t.Errorf("the retry left at %v, the other queue's head at %v; want 10s and 20s", a.left, h.left)
	}
}

func TestWhoARetryMakesLateIsToldAtOnce(t *testing.T) {
	cfg := one(1000, 10)
	cfg.Buckets[0].StartEmpty = true
	m := newSim(t, cfg)
	m.onAdmit = func(*simCall) {}
	var calls []*simCall
	for i := range 6 {
		c := m.call("b", 100)
		c.Deadline = origin.Add(60 * time.Second)
		if i == 0 {
			c.Deadline = origin.Add(2 * time.Minute)
			c.CallTime = 100 * time.Second
		}
		if v := m.submit(0, c); v.State != Queued {
			t.Fatalf("%d: %+v", i, v)
		}
		calls = append(calls, c)
	}
	m.runTo(10 * time.Second)
	if calls[0].left != 10*time.Second {
		t.Fatalf("the first left at %v", calls[0].left)
	}
	m.s.Settle(&calls[0].Call, nil, m.now)
	calls[0].CallTime = 0
	m.s.Retry(&calls[0].Call, m.now, m.now)
	m.runTo(11 * time.Second)
	if m.late != 1 || calls[5].Verdict().Reason != ReasonDeadline {
		t.Errorf("%d told; the last is %+v", m.late, calls[5].Verdict())
	}
	m.runTo(2 * time.Minute)
	if m.expired > 0 {
		t.Errorf("%d expired", m.expired)
	}
}

func TestALanesUseIsWhatItReallySpent(t *testing.T) {
	// y reserves much and spends little: what x can count on is what y leaves.
	cfg := one(1000, 10)
	cfg.Lanes = []Lane{{Name: "x", Share: 0.1}, {Name: "y", Share: 0.9}}
	m := newSim(t, cfg)
	id := m.id("b")
	m.onAdmit = func(c *simCall) { m.s.Settle(&c.Call, []Cost{{Bucket: id, Amount: 1}}, m.now) }
	for i := range 100 {
		c := m.call("b", 500)
		c.Lane = 1
		m.submit(time.Duration(i)*time.Second, c)
	}
	if got := m.s.slots[0].accounts[1].use.rate(m.s.clock); got > 2 {
		t.Errorf("use is %v/s, about 1/s were spent", got)
	}
}

func TestSupplyOfACallWithoutRoom(t *testing.T) {
	v := view{level: 50, rate: 10, top: 100, room: 70, own: 4, claims: []claim{{slope: 6, most: 30}}}
	for name, tc := range map[string]struct {
		t, c, want float64
		contended  bool
	}{
		"with room it borrows":                 {t: 2, c: 60, want: 58},
		"without room its own rate":            {t: 2, c: 80, want: 8},
		"without room when the bucket is full": {t: 5, c: 80, want: 100},
		"not while another lane waits":         {t: 5, c: 80, want: 20, contended: true},
	} {
		t.Run(name, func(t *testing.T) {
			v := v
			v.contended = tc.contended
			if got := v.supply(tc.t, tc.c); !near(got, tc.want, 1e-9) {
				t.Errorf("supply = %v, want %v", got, tc.want)
			}
		})
	}
}

// A small call that may wait for ever is not passed by every larger one that comes after it.
func TestCallsWithoutDeadlineGoAsTheyCame(t *testing.T) {
	m := newSim(t, one(10, 1))
	m.submit(0, m.call("b", 10))
	small := m.call("b", 1)
	large := []*simCall{m.call("b", 5), m.call("b", 5), m.call("b", 5)}
	m.submit(0, large[0])
	m.submit(0, small)
	m.submit(0, large[1])
	m.submit(0, large[2])
	m.runTo(time.Minute)
	if small.left != 6*time.Second || large[1].left != 11*time.Second || large[2].left != 16*time.Second {
		t.Errorf("they left at %v, %v and %v", small.left, large[1].left, large[2].left)
	}
}
