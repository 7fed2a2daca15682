// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"testing"
	"time"
)

// However often something is due, messages are no more than a coordinator takes, and the first go at once.
func TestDrawsArePaced(t *testing.T) {
	var p pace
	now := time.Unix(1000, 0)
	start, sent, atOnce := now, 0, 0
	for now.Before(start.Add(time.Minute)) {
		if at := p.wait(now); at.After(now) {
			now = at
			continue
		}
		p.sent(now)
		sent++
		if now.Equal(start) {
			atOnce++
		}
	}
	if atOnce != drawBurst || sent > drawsPerSecond*60+drawBurst || sent < drawsPerSecond*60 {
		t.Errorf("%d at once, %d in a minute", atOnce, sent)
	}
	if at := p.wait(now.Add(time.Hour)); at.After(now.Add(time.Hour)) {
		t.Error("who was quiet waits")
	}
}
