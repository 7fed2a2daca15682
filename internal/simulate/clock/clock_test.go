// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package clock_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/internal/simulate/clock"
	_ "github.com/headgate-dev/headgate/internal/testing/seed"
)

// Whatever is asked for in whatever order happens by time, then in the order it was asked for.
func TestThingsHappenInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type done struct{ at, asked int }
		c := clock.New()
		var got []done
		waits := rapid.SliceOfN(rapid.IntRange(-2, 20), 0, 200).Draw(t, "waits")
		for i, d := range waits {
			c.After(time.Duration(d), func() { got = append(got, done{int(c.Since()), i}) })
		}
		if err := c.Run(clock.Start.Add(10)); err != nil {
			t.Fatal(err)
		}
		var want []done
		for i, d := range waits {
			if d <= 10 {
				want = append(want, done{max(d, 0), i})
			}
		}
		slices.SortStableFunc(want, func(a, b done) int { return a.at - b.at })
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
		if c.Since() != 10 {
			t.Fatalf("the time is %v", c.Since())
		}
	})
}

func TestWhatHappensMayAskForMore(t *testing.T) {
	c := clock.New()
	n := 0
	var again func()
	again = func() {
		n++
		c.After(time.Second, again)
	}
	again()
	if err := c.Run(clock.Start.Add(time.Minute)); err != nil || n != 61 {
		t.Fatalf("%d times, %v", n, err)
	}
	c.At(clock.Start, func() {
		if c.Since() != time.Minute {
			t.Errorf("time went back to %v", c.Since())
		}
	})
	if err := c.Run(clock.Start.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
}

func TestPendingEventsAreBounded(t *testing.T) {
	c := clock.New()
	for range clock.MaxPending + 1 {
		c.After(time.Second, func() {})
	}
	if err := c.Run(clock.Start); !errors.Is(err, clock.ErrTooMuch) {
		t.Errorf("no end to it: %v", err)
	}
}
