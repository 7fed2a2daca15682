// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"
	"time"
)

func TestCanonicalBulkCallGoesOnceAtNineSeconds(t *testing.T) {
	m := newSim(t, canonical(true))
	c := m.tokens(0, 60_000, 0, time.Minute)
	if v := m.submit(0, c); v.State != Queued || v.Wait != 9*time.Second || v.Bucket != m.id("input") {
		t.Fatalf("submit = %+v, want queued for 9s on input", v)
	}
	if next, ok := m.s.Next(m.now); !ok || next.Sub(origin) != 9*time.Second {
		t.Fatalf("next = %v %v, want 9s", next.Sub(origin), ok)
	}
	if got := m.s.Advance(origin.Add(9*time.Second-1), nil); len(got) != 0 {
		t.Fatal("admitted a nanosecond early")
	}
	got := m.s.Advance(origin.Add(9*time.Second), nil)
	if len(got) != 1 || got[0].Verdict().State != Admitted {
		t.Fatalf("at 9s: %d decided", len(got))
	}
	if got := m.s.Advance(origin.Add(time.Minute), nil); len(got) != 0 {
		t.Fatal("admitted twice")
	}
}

func TestA4DeadlineShorterThanTheWaitIsRefusedAtSubmit(t *testing.T) {
	m := newSim(t, canonical(true))
	v := m.submit(0, m.tokens(0, 60_000, 0, 4*time.Second))
	if v.State != Refused || v.Reason != ReasonDeadline || v.Wait != 9*time.Second || v.Bucket != m.id("input") {
		t.Fatalf("submit = %+v, want refused, deadline, 9s", v)
	}
	// The time an attempt needs counts.
	c := m.tokens(0, 60_000, 0, 10*time.Second)
	c.CallTime = 2 * time.Second
	if v := m.submit(0, c); v.Reason != ReasonDeadline {
		t.Fatalf("submit = %+v, want refused: 9s of waiting and 2s of calling exceed 10s", v)
	}
	c = m.tokens(0, 60_000, 0, 11*time.Second)
	c.CallTime = 2 * time.Second
	if v := m.submit(0, c); v.State != Queued {
		t.Fatalf("submit = %+v, want queued: 9s + 2s fit 11s exactly", v)
	}
}

// load submits equal calls of one lane at equal intervals.
type load struct {
	lane     int
	tokens   float64
	every    time.Duration
	deadline time.Duration
	made     []*simCall
	refused  []*simCall
	next     time.Duration
}

func (m *sim) play(until time.Duration, loads ...*load) {
	for {
		var l *load
		for _, x := range loads {
			if l == nil || x.next < l.next {
				l = x
			}
		}
		if l.next >= until {
			break
		}
		c := m.tokens(l.lane, l.tokens, l.next, l.deadline)
		l.made = append(l.made, c)
		if v := m.submit(l.next, c); v.State == Refused {
			l.refused = append(l.refused, c)
		}
		l.next += l.every
	}
	m.runTo(until)
}

var chatAndBulk = []Lane{{Name: "bulk", Share: 0.4}, {Name: "chat", Share: 0.6}}

// Fault C14: A large call waited for ever behind small ones, and those behind one whose client had left.
// Headgate: Each lane's guarantee bounds the wait of its largest call, who leaves makes room at once, a low lane goes
// on under a steady high one, and the lowest priority is refused first.
func TestC14BulkIsNotStarvedBySmallCalls(t *testing.T) {
	for _, every := range []time.Duration{290 * time.Millisecond, 300 * time.Millisecond, 320 * time.Millisecond} {
		t.Run(every.String(), func(t *testing.T) {
			m := newSim(t, canonical(true, chatAndBulk...))
			chat := &load{lane: 1, tokens: 2000, every: every, deadline: 20 * time.Second}
			bulk := &load{lane: 0, tokens: 60_000, every: 25 * time.Second, deadline: time.Minute, next: time.Second}
			m.play(250*time.Second, chat, bulk)
			for _, c := range bulk.made[:9] {
				if c.left == 0 || c.left-c.came > 22500*time.Millisecond {
					t.Errorf("bulk call of %v left at %v, want within 22.5s", c.came, c.left)
				}
			}
			if len(bulk.refused) > 0 || m.expired > 0 {
				t.Errorf("%d bulk calls refused, %d calls expired in the queue", len(bulk.refused), m.expired)
			}
			used := m.spent[m.id("input")] / (tokenRate*250 - m.level("input"))
			if used < 0.99 {
				t.Errorf("used %.4f of the refill", used)
			}
		})
	}
}

func TestManyAtOnceFromEmptyAreDeclinedAtOnceWhenLate(t *testing.T) {
	m := newSim(t, canonical(true))
	accepted, declined := 0, 0
	calls := make([]*simCall, 400)
	for i := range calls {
		calls[i] = m.tokens(0, 2000, 0, time.Minute)
		switch v := m.submit(0, calls[i]); {
		case v.State == Queued:
			accepted++
		case v.Reason == ReasonDeadline && v.Wait > time.Minute:
			declined++
		default:
			t.Fatalf("call %d: %+v", i, v)
		}
	}
	if accepted != 200 || declined != 200 {
		t.Fatalf("accepted %d, declined %d; the refill of 60s is 200 calls", accepted, declined)
	}
	m.runTo(2 * time.Minute)
	if m.expired+m.late > 0 || m.spent[m.id("input")] != 400_000 {
		t.Errorf("%d expired, %d declined later, %v spent", m.expired, m.late, m.spent[m.id("input")])
	}
}

func TestOverloadUsesTheAllowanceAndDeclinesTheExcessAtOnce(t *testing.T) {
	const end = 90 * time.Second
	m := newSim(t, canonical(false, chatAndBulk...))
	chat := &load{lane: 1, tokens: 2000, every: 250 * time.Millisecond, deadline: 30 * time.Second}
	bulk := &load{lane: 0, tokens: 60_000, every: 30 * time.Second, deadline: time.Minute, next: 10 * time.Millisecond}
	// 1.5 times the rate: 8,000 tokens/s of chat and 2,000 of bulk.
	m.play(end, chat, bulk)
	used := m.spent[m.id("input")] / (400_000 + tokenRate*end.Seconds() - m.level("input"))
	if used < 0.99 {
		t.Errorf("used %.4f of start and refill", used)
	}
	if m.expired > 0 {
		t.Errorf("%d calls were parked to expire", m.expired)
	}
	if len(bulk.refused) > 0 {
		t.Errorf("%d bulk calls refused within their share", len(bulk.refused))
	}
	m.runTo(end + time.Minute)
	if m.expired > 0 {
		t.Errorf("%d calls were parked to expire", m.expired)
	}
}

func TestWithinItsShareNoCallFailsOrIsLate(t *testing.T) {
	// Chat stays within 0.6 of the rate while bulk wants three times its own share.
	const end = 5 * time.Minute
	m := newSim(t, canonical(true, chatAndBulk...))
	chat := &load{lane: 1, tokens: 2000, every: 500 * time.Millisecond, deadline: 3 * time.Second, next: 500 * time.Millisecond}
	bulk := &load{lane: 0, tokens: 60_000, every: 7500 * time.Millisecond, deadline: time.Minute}
	m.play(end, chat, bulk)
	if len(chat.refused) > 0 || m.expired > 0 {
		t.Errorf("%d chat calls refused, %d expired", len(chat.refused), m.expired)
	}
	// A private bucket of 4,000 tokens/s has 2,000 every 500 ms: nobody waits.
	for _, c := range chat.made {
		if c.left != c.came {
			t.Errorf("chat call of %v left at %v", c.came, c.left)
		}
	}
	if len(bulk.refused) == 0 {
		t.Error("bulk beyond the rest was not declined")
	}
}

// Fault C5: A call that one limit refused had already been charged to the others.
// Headgate: All limits are checked and taken in one step: a refusal leaves every level as the refill alone makes it.
func TestC5RefusalsTakeNothing(t *testing.T) {
	m := newSim(t, Config{Buckets: []Bucket{
		{Name: "requests", Rate: 10, Capacity: 600, Window: time.Minute},
		{Name: "input", Rate: 100, Capacity: 6000, Window: time.Minute, StartEmpty: true},
		{Name: "slots", Kind: Slots, Capacity: 2},
	}})
	costs := []Cost{{Bucket: m.id("requests"), Amount: 1}, {Bucket: m.id("input"), Amount: 5000}, {Bucket: m.id("slots"), Amount: 1}}
	for i := range 10_000 {
		at := time.Duration(i) * time.Millisecond
		c := &simCall{Call: Call{Costs: costs, Deadline: origin.Add(at + time.Second)}}
		if v := m.submit(at, c); v.State != Refused {
			t.Fatalf("call %d: %+v", i, v)
		}
	}
	m.runTo(10 * time.Second)
	if r, i, s := m.level("requests"), m.level("input"), m.level("slots"); r != 600 || !near(i, 1000, 1e-6) || s != 2 {
		t.Errorf("levels = %v %v %v, want 600 1000 2", r, i, s)
	}
}

func TestC5SlotIsFreeAfterTheHolderEnds(t *testing.T) {
	m := newSim(t, Config{Buckets: []Bucket{
		{Name: "requests", Rate: 1.0 / 60, Capacity: 1, Window: time.Minute},
		{Name: "slots", Kind: Slots, Capacity: 1},
	}})
	m.onAdmit = func(*simCall) {}
	both := []Cost{{Bucket: m.id("requests"), Amount: 1}, {Bucket: m.id("slots"), Amount: 1}}
	a := &simCall{Call: Call{Costs: both}}
	if v := m.submit(0, a); v.State != Admitted {
		t.Fatalf("a: %+v", v)
	}
	if v := m.submit(0, &simCall{Call: Call{Costs: both, Deadline: origin.Add(time.Second)}}); v.State != Refused {
		t.Fatalf("b: %+v", v)
	}
	m.s.Settle(&a.Call, nil, m.now)
	if v := m.submit(time.Second, &simCall{Call: Call{Costs: both[1:]}}); v.State != Admitted {
		t.Fatalf("c: %+v, want admitted", v)
	}
	if v := m.submit(61*time.Second, &simCall{Call: Call{Costs: both}}); v.State != Queued {
		t.Fatalf("d: %+v, want queued for the slot", v)
	}
}

func TestC4ReleaseHappensExactlyOnce(t *testing.T) {
	m := newSim(t, Config{Buckets: []Bucket{
		{Name: "slots", Kind: Slots, Capacity: 2},
		{Name: "input", Rate: 1, Capacity: 1000, Window: time.Minute},
	}})
	m.onAdmit = func(*simCall) {}
	costs := []Cost{{Bucket: m.id("slots"), Amount: 1}, {Bucket: m.id("input"), Amount: 100}}
	c := &simCall{Call: Call{Costs: costs}}
	m.submit(0, c)
	zero := []Cost{{Bucket: m.id("input"), Amount: 0}}
	if !m.s.Settle(&c.Call, zero, m.now) || m.s.Settle(&c.Call, zero, m.now) {
		t.Fatal("settle did not act exactly once")
	}
	m.s.Cancel(&c.Call, m.now)
	m.s.Charge(&c.Call, costs, m.now)
	if s, i := m.level("slots"), m.level("input"); s != 2 || i != 1000 {
		t.Errorf("levels = %v %v, want 2 1000", s, i)
	}
}

// Fault C6: Reservations of streams that failed were never released.
// Headgate: What is reserved is at every moment the sum over live calls, and is nothing once they have ended, however
// they did.
func TestC6NothingStaysReserved(t *testing.T) {
	m := newSim(t, Config{Buckets: []Bucket{
		{Name: "slots", Kind: Slots, Capacity: 4},
		{Name: "input", Rate: 100, Capacity: 1000, Window: time.Minute},
	}})
	m.onAdmit = func(*simCall) {}
	costs := []Cost{{Bucket: m.id("slots"), Amount: 1}, {Bucket: m.id("input"), Amount: 10}}
	var live []*simCall
	check := func() {
		t.Helper()
		want := 0.0
		for _, c := range live {
			want += c.holding(m.s.bucket(m.id("input"))).amount
		}
		if got := m.s.bucket(m.id("input")).reserved; !near(got, want, 1e-6) {
			t.Fatalf("reserved %v, want %v", got, want)
		}
	}
	m.onAdmit = func(c *simCall) { live = append(live, c) }
	for i := range 1000 {
		m.submit(time.Duration(i)*200*time.Millisecond, &simCall{Call: Call{Costs: costs}})
		check()
		if len(live) == 4 {
			m.s.Charge(&live[0].Call, costs[1:], m.now)
			check()
			for _, c := range live {
				m.s.Settle(&c.Call, []Cost{{Bucket: costs[1].Bucket, Amount: float64(i % 17)}}, m.now)
			}
			live = live[:0]
			check()
		}
	}
	if len(live) != 0 || m.level("slots") != 4 {
		t.Errorf("%d live, %v slots free", len(live), m.level("slots"))
	}
}

func TestC14CancelledHeadLetsTheNextGo(t *testing.T) {
	m := newSim(t, canonical(true))
	big, small := m.tokens(0, 60_000, 0, time.Minute), m.tokens(0, 2000, 0, time.Minute)
	m.submit(0, big)
	m.submit(time.Second, small)
	m.runTo(2 * time.Second)
	if small.Verdict().State != Queued {
		t.Fatal("the committed head was overtaken")
	}
	m.s.Cancel(&big.Call, m.now)
	if next, ok := m.s.Next(m.now); !ok || !next.Equal(m.now) {
		t.Fatalf("next = %v %v, want now", next.Sub(origin), ok)
	}
	m.runTo(2 * time.Second)
	if small.left != 2*time.Second || big.Verdict().State != Cancelled {
		t.Errorf("the next left at %v, the head is %v", small.left, big.Verdict())
	}
}
