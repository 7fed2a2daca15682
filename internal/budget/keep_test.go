// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"
	"time"
)

// What a lane was granted and does not need is there for the others, but for what its owner has it keep; never while it waits.
func TestALaneKeepsOfAFedBucketWhatItsOwnerSays(t *testing.T) {
	m := newSim(t, Config{
		Buckets: []Bucket{{Name: "b", Rate: 10, Capacity: 100, Fed: true, StartEmpty: true, Window: time.Minute}},
		Lanes:   []Lane{{Name: "a", Share: 0.5}, {Name: "b", Share: 0.5}},
	})
	id := m.id("b")
	call := func(lane int, amount float64) *simCall {
		c := &simCall{Call: Call{Lane: lane, Costs: []Cost{{Bucket: id, Amount: amount}}, Deadline: origin.Add(time.Hour)}}
		m.submit(0, c)
		return c
	}
	m.s.Feed(id, 0, 20, m.now)
	c := call(1, 15)
	m.advance()
	if c.Verdict().State != Queued {
		t.Fatal("it went on what the other lane was granted")
	}
	m.s.Keep(id, 0, 10, m.now)
	m.advance()
	if c.Verdict().State != Queued {
		t.Fatal("ten are kept, so there are ten")
	}
	m.s.Keep(id, 0, 5, m.now)
	m.advance()
	if c.Verdict().State == Queued {
		t.Error("it waits for what nobody keeps")
	}
	m.s.Feed(id, 0, 20, m.now)
	waits := call(0, 60)
	m.s.Keep(id, 0, 0, m.now)
	c = call(1, 20)
	m.advance()
	if c.Verdict().State != Queued || waits.Verdict().State != Queued {
		t.Error("what a lane collects for a call that waits was taken from it")
	}
	m.s.Keep(id, 7, 0, m.now)
}
