// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"
	"time"
)

// A fed bucket rises by what it is given alone; its rate only says when calls can expect to go.
func TestAFedBucketRisesByFeedAlone(t *testing.T) {
	m := newSim(t, Config{
		Buckets: []Bucket{{Name: "b", Rate: 10, Capacity: 100, Fed: true, StartEmpty: true, Window: time.Minute}},
		Lanes:   []Lane{{Name: "a", Share: 0.5, Hold: -1}, {Name: "b", Share: 0.5, Hold: -1}},
	})
	id := m.id("b")
	late := &simCall{Call: Call{Costs: []Cost{{Bucket: id, Amount: 50}}, Deadline: origin.Add(4 * time.Second)}}
	if v := m.submit(0, late); v.State != Refused || v.Reason != ReasonDeadline {
		t.Fatalf("%+v: 50 at 10 a second take 5s", v)
	}
	c := &simCall{Call: Call{Costs: []Cost{{Bucket: id, Amount: 50}}, Deadline: origin.Add(time.Minute)}}
	if v := m.submit(0, c); v.State != Queued || v.Wait != 5*time.Second {
		t.Fatalf("%+v", v)
	}
	m.runTo(20 * time.Second)
	if m.s.Level(id, m.now) != 0 || c.Verdict().State != Queued {
		t.Fatal("it rises with time")
	}
	if next, ok := m.s.Next(m.now); ok && next.Before(origin.Add(time.Minute)) {
		t.Errorf("something is due at %v although nothing comes by itself", next.Sub(origin))
	}
	m.s.Feed(id, 1, 50, m.now)
	m.advance()
	if c.Verdict().State != Queued {
		t.Fatal("it went on what was granted to another lane")
	}
	m.s.Feed(id, 0, 50, m.now)
	m.advance()
	if c.Verdict().State == Queued {
		t.Fatal("it waits although its lane was granted enough")
	}
	m.s.Feed(id, 0, 1000, m.now)
	if got := m.s.Level(id, m.now); got != 100 {
		t.Errorf("level %v of 100", got)
	}
	m.s.Feed(id, -1, -30, m.now)
	if got := m.s.Level(id, m.now); got != 70 {
		t.Errorf("level %v after 30 were taken back", got)
	}
	if got := m.s.Levels([]BucketID{id, NoBucket}, nil, m.now); len(got) != 2 || got[0] != 70 || got[1] != 0 {
		t.Errorf("levels %v of one bucket and none", got)
	}
}

// What a pool granted goes as soon as the levels suffice: it was judged there, and waited there for its lane's share.
func TestGrantedCallsGoWhereTheLevelSuffices(t *testing.T) {
	m := newSim(t, Config{
		Buckets: []Bucket{
			{Name: "fed", Rate: 1, Capacity: 100, Fed: true, StartEmpty: true, Window: time.Minute},
			{Name: "mirror", Rate: 10, Capacity: 100, StartEmpty: true, Window: time.Minute},
		},
		Lanes: []Lane{{Name: "a", Share: 0.2, Hold: -1}, {Name: "b", Share: 0.8}},
	})
	fed, mirror := m.id("fed"), m.id("mirror")
	m.s.Feed(fed, 0, 60, m.now)
	costs := []Cost{{Bucket: fed, Amount: 60}, {Bucket: mirror, Amount: 60}}
	deadline := origin.Add(8 * time.Second)
	if v := m.submit(0, &simCall{Call: Call{Costs: costs, Deadline: deadline}}); v.State != Refused {
		t.Fatalf("%+v: of its own rate the lane has 60 in the mirror after 30s", v)
	}
	c := &simCall{Call: Call{Costs: costs, Deadline: deadline, Granted: true}}
	if v := m.submit(0, c); v.State != Queued {
		t.Fatalf("%+v: it was accepted where it was granted", v)
	}
	if next, ok := m.s.Next(m.now); !ok || next.Sub(origin) > 6*time.Second {
		t.Errorf("the mirror has 60 after 6s, and the next look is at %v", next.Sub(origin))
	}
	m.runTo(6*time.Second - time.Nanosecond)
	if c.Verdict().State != Queued {
		t.Fatalf("%+v: the level does not suffice", c.Verdict())
	}
	m.runTo(6 * time.Second)
	if c.Verdict().State == Queued {
		t.Fatalf("%+v: the levels suffice", c.Verdict())
	}
	other := &simCall{Call: Call{Costs: []Cost{{Bucket: mirror, Amount: 1}}}}
	if v := m.submit(1, other); v.State != Queued {
		t.Errorf("%+v: what another lane had collected is gone with the level", v)
	}
}
