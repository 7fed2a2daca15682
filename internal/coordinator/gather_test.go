// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"testing"
	"time"
)

// Turns are a batch apart, so that a hundred a second is the most; after a rest one that asks alone hardly waits for others.
func TestDrawsAfterARestGatherForLess(t *testing.T) {
	for rested, want := range map[time.Duration]time.Duration{
		0: batch, 4 * time.Millisecond: batch - 4*time.Millisecond, batch: afterRest, time.Hour: afterRest, -time.Second: batch,
	} {
		if got := gathering(rested); got != want {
			t.Errorf("after %s draws gather for %s, want %s", rested, got, want)
		}
	}
}
