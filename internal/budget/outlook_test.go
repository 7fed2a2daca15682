// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"math"
	"testing"
	"time"
)

// What a lane has is what is there beyond what others keep and what its own calls wait for; it grows by what the others have left of
// late, and by its share at the least.
func TestOutlookIsWhatALaneHas(t *testing.T) {
	m := newSim(t, Config{
		Buckets: []Bucket{{Name: "b", Rate: 10, Capacity: 100, Window: time.Minute, StartEmpty: true}},
		Lanes:   []Lane{{Name: "a", Share: 0.4}, {Name: "b", Share: 0.6}},
		Patient: true,
	})
	id := m.id("b")
	m.now = m.now.Add(5 * time.Second)
	// Of 50 the other lane keeps 30.
	if spare, perSecond := m.s.Outlook(id, 0, m.now); math.Abs(spare-20) > 1e-6 || perSecond != 10 {
		t.Errorf("%v, and %v a second", spare, perSecond)
	}
	waits := &simCall{Call: Call{Lane: 0, Costs: []Cost{{Bucket: id, Amount: 90}}}}
	m.submit(0, waits)
	if spare, _ := m.s.Outlook(id, 0, m.now); math.Abs(spare+70) > 1e-6 {
		t.Errorf("%v with 90 waiting", spare)
	}
	m.submit(0, &simCall{Call: Call{Lane: 1, Costs: []Cost{{Bucket: id, Amount: 30}}}})
	// 30 of late are 3 a second.
	if _, perSecond := m.s.Outlook(id, 0, m.now); math.Abs(perSecond-7) > 1e-6 {
		t.Errorf("%v a second beside 3", perSecond)
	}
	for _, none := range []func() (float64, float64){
		func() (float64, float64) { return m.s.Outlook(NoBucket, 0, m.now) },
		func() (float64, float64) { return m.s.Outlook(id, 2, m.now) },
	} {
		if spare, perSecond := none(); spare != 0 || perSecond != 0 {
			t.Errorf("%v and %v of nothing", spare, perSecond)
		}
	}
}
