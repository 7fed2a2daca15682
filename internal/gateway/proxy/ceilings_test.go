// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"strconv"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/admission"
)

func TestStatedWaitsStandUntilTheyAreOverOrDisproved(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	one, other := admission.Account{Fingerprint: 1, Model: "m"}, admission.Account{Fingerprint: 2, Model: "m"}
	var c ceilings
	if c.stands(one, now) {
		t.Error("a wait stands that nobody stated")
	}
	c.set(one, 1000, now.Add(time.Minute), now)
	for _, tc := range []struct {
		a    admission.Account
		at   time.Duration
		want bool
	}{{one, 0, true}, {one, time.Minute - 1, true}, {one, time.Minute, false}, {other, 0, false}} {
		if got := c.stands(tc.a, now.Add(tc.at)); got != tc.want {
			t.Errorf("%v after %s: %v", tc.a, tc.at, got)
		}
	}
	// A small call that passes says nothing of a large one.
	c.answered(other, 5000, now.Add(1))
	c.answered(one, 999, now.Add(1))
	if !c.stands(one, now) {
		t.Error("a smaller call's success ends the wait")
	}
	// Nor does one that was under way when the wait was stated.
	c.answered(one, 1000, now)
	if !c.stands(one, now) {
		t.Error("an earlier call's success ends the wait")
	}
	c.answered(one, 1000, now.Add(1))
	if c.stands(one, now) {
		t.Error("the wait outlives the success of a call as large")
	}
}

func TestStatedWaitsAreBounded(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	var c ceilings
	for i := range 10 * maxMarks {
		c.set(admission.Account{Model: strconv.Itoa(i)}, 1, now.Add(time.Hour+time.Duration(i)*time.Second), now)
	}
	if len(c.waits) != maxMarks || int(c.stated.Load()) != maxMarks {
		t.Fatalf("%d waits are kept, %d counted", len(c.waits), c.stated.Load())
	}
	if !c.stands(admission.Account{Model: strconv.Itoa(10*maxMarks - 1)}, now) || c.stands(admission.Account{Model: "0"}, now) {
		t.Error("the wait that is over first did not make room")
	}
	later := now.Add(24 * time.Hour)
	c.set(admission.Account{Model: "new"}, 1, later.Add(time.Hour), later)
	if len(c.waits) != 1 {
		t.Errorf("%d waits are kept that are over", len(c.waits)-1)
	}
}
