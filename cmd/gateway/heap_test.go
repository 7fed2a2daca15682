// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

func TestASmallHeapGrowsToTheFloorAndALargeOneAsEver(t *testing.T) {
	for _, tc := range []struct {
		limit int64
		held  uint64
		want  int
	}{
		{0, 0, 100},         // nothing is known yet
		{0, 1 * mib, 500},   // a least heap of 20 MiB
		{0, 4 * mib, 400},   // collected at 20 MiB
		{0, 5*mib + 1, 250}, // a step below 299
		{0, 9 * mib, 100},   // below one step
		{0, 10 * mib, 100},  // twice that is the floor
		{0, 300 * mib, 100}, // many streams
		{256 * mib, 4 * mib, 400},
		{128 * mib, 4 * mib, 150}, // at 10 MiB
		{40 * mib, 2 * mib, 100},  // there is no room
	} {
		p := &pacer{floor: floorOf(tc.limit)}
		if got := p.next(tc.held); got != tc.want {
			t.Errorf("limit %d MiB, held %d MiB: %d, want %d", tc.limit/mib, tc.held/mib, got, tc.want)
		}
	}
}

// TestThePaceFollowsTheHeap: what is held decides, collection by collection, and whether there are calls.
func TestThePaceFollowsTheHeap(t *testing.T) {
	before := debug.SetGCPercent(usual)
	defer debug.SetGCPercent(before)
	last := time.Now()
	p := &pacer{floor: 1 << 30, percent: usual, busy: func() (int64, time.Time) { return 0, last }}
	defer p.stop()
	runtime.GC()
	p.collected()
	until(t, func(percent int) bool { return percent > usual })
	large := make([]byte, 600*mib) // never written to
	until(t, func(percent int) bool { return percent == usual })
	runtime.KeepAlive(large)
	until(t, func(percent int) bool { return percent > usual })

	p.look(last.Add(restAfter))
	until(t, func(percent int) bool { return percent == usual })
	p.look(last.Add(2 * restAfter)) // still at rest
	until(t, func(percent int) bool { return percent == usual })
	p.look(last.Add(restAfter - 1))
	until(t, func(percent int) bool { return percent > usual })
}

// until collects until the percentage in force is as it should be.
func until(t *testing.T, met func(percent int) bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		runtime.GC()
		s := gcPercent()
		if met(s) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("GOGC stays at %d", s)
		}
	}
}

func gcPercent() int {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(s)
	return int(s[0].Value.Uint64())
}
