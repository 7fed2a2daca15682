// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "github.com/headgate-dev/headgate/internal/testing/seed"
)

func TestRevisionGrowsOverDeletionAndClockSteps(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	tests := map[string]struct {
		previous int64
		now      time.Time
		want     int64
	}{
		"none before: the clock, so that a deleted object's is passed": {0, now, 1_800_000_000_000},
		"the clock is ahead":     {1_700_000_000_000, now, 1_800_000_000_000},
		"the same millisecond":   {1_800_000_000_000, now, 1_800_000_000_001},
		"the clock stepped back": {1_900_000_000_000, now, 1_900_000_000_001},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := NextRevision(tc.previous, tc.now); got != tc.want {
				t.Errorf("NextRevision = %d, want %d", got, tc.want)
			}
		})
	}
}

func TestRevisionAlwaysGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		revision := int64(0)
		for _, at := range rapid.SliceOf(rapid.Int64Range(0, 1<<45)).Draw(t, "clock") {
			next := NextRevision(revision, time.UnixMilli(at))
			if next <= revision {
				t.Fatalf("revision %d follows %d", next, revision)
			}
			revision = next
		}
	})
}

func TestSameContentLooksPastTheRevisionOnly(t *testing.T) {
	a, b := testPlan(), testPlan()
	b.Revision = 99
	if !SameContent(a, b) {
		t.Error("another revision counts as another content")
	}
	b.Policies[1].Routes[0].Limits[0].Amount++
	if SameContent(a, b) {
		t.Error("another amount counts as the same content")
	}
	if a.Revision != 7 || b.Revision != 99 {
		t.Error("SameContent changed a revision")
	}
}
