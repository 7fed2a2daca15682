// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"errors"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budgetstore"
	"github.com/headgate-dev/headgate/internal/testing/redisserver"
)

// TestASlowStore: a draw that is answered after two seconds is given up, though it may have been made. What it was granted is
// told by the next answer that comes in time, and is granted once.
func TestASlowStore(t *testing.T) {
	t.Parallel()
	link := redisserver.NewLink(t, redisserver.Start(t).Address)
	c := newClient(t, openHasty(t, "redis://"+link.Address), "account/slow", "a")
	c.granted(10)
	had := c.r.Lines[0].Got
	link.Delay(2 * time.Second)
	for range 3 {
		began := time.Now()
		if _, err := c.draw(50); err == nil || errors.Is(err, budgetstore.ErrRefused) {
			t.Errorf("an answer after two seconds: %v", err)
		}
		if took := time.Since(began); took > patience {
			t.Errorf("it was given up after %s", took)
		}
	}
	link.Delay(0)
	answer := c.answered()
	got := c.r.Lines[0].Got - had
	if got > 50+1e-6 {
		t.Errorf("50 were wanted three times, and %v granted", got)
	}
	if out := answer.Lines[0].Outstanding; out < c.r.Lines[0].Got-1e-6 {
		t.Errorf("%v is in hand, the store knows of %v", c.r.Lines[0].Got, out)
	}
}

// TestAStoreThatStalls in the middle of an answer is given up as well.
func TestAStoreThatStalls(t *testing.T) {
	t.Parallel()
	link := redisserver.NewLink(t, redisserver.Start(t).Address)
	c := newClient(t, openHasty(t, "redis://"+link.Address), "account/stalled", "a")
	c.granted(10)
	link.Delay(time.Hour)
	if _, err := c.draw(1); err == nil {
		t.Error("a store that stalls answered")
	}
	link.Delay(0)
	c.granted(10)
}
