// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package bubble

import (
	"testing"
	"time"
)

// TestWhatEndsByATimerEnds: without the time after the test it would be a goroutine that is left, which is a panic.
func TestWhatEndsByATimerEnds(t *testing.T) {
	ended := false
	t.Cleanup(func() {
		if !ended {
			t.Error("the test is over before what it left to a timer")
		}
	})
	Run(t, func(t *testing.T) {
		t.Cleanup(func() {
			go func() {
				<-time.After(time.Second)
				ended = true
			}()
		})
	})
}
