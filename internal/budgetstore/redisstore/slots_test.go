// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/shelves"
)

// shelved is a world of drawers that lease slots of the real script.
func shelved(t *testing.T, s *Store, seed int64, f shelves.Faults) *shelves.World {
	t.Helper()
	if err := s.client.FlushDB(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	var w *shelves.World
	set := func(now time.Duration) {
		account := "shelves-" + strconv.FormatInt(seed, 10)
		key := strings.TrimSuffix(s.keys(account)[0], "account") + "clock"
		at := strconv.FormatFloat(float64(epoch.Unix())+now.Seconds(), 'f', 6, 64)
		if err := s.client.Set(context.Background(), key, at, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	w = shelves.New(t, s, set, seed, f)
	return w
}

// TestSlotsAreSharedByDrawers: whatever is lost, late, doubled or out of order, whoever crashes or is cut off, no more
// calls are in flight than there are slots.
func TestSlotsAreSharedByDrawers(t *testing.T) {
	s := open(t)
	for name, f := range map[string]shelves.Faults{
		"network": {}, "crashes": {Crash: true}, "cut off": {Cut: true}, "both": {Crash: true, Cut: true},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range int64(histories) {
				w := shelved(t, s, digest(name)+seed, f)
				for i, drawer := range []string{"a", "b", "c"} {
					w.Join(drawer, 1+(w.Slots*(i+1))/2)
				}
				w.Play(time.Minute)
				t.Logf("%d slots, %d in use at the most", w.Slots, w.Most)
			}
		})
	}
}

// TestAllSlotsAreInUseInEvenParts once the store counts on no drawer any longer that it does not know; what does not divide
// evenly goes in turn, so that nobody starves where there are fewer slots than drawers.
func TestAllSlotsAreInUseInEvenParts(t *testing.T) {
	s := open(t)
	for _, n := range []int{2, 30} {
		w := shelved(t, s, int64(n), shelves.Faults{})
		w.Calm(n)
		w.Join("a", n)
		w.Play(20 * time.Second)
		if has := w.Has("a"); has != n {
			t.Errorf("one alone has %d of %d", has, n)
		}
		w.Join("b", n)
		w.Join("c", n)
		w.Play(20 * time.Second)
		w.Measure()
		w.Play(30 * time.Second)
		used := 0.0
		for _, name := range []string{"a", "b", "c"} {
			has := w.Had(name)
			used += has
			if even := float64(n) / 3; has < 0.7*even || has > 1.3*even {
				t.Errorf("%d slots: %s has %.2f on average", n, name, has)
			}
		}
		if used < 0.9*float64(n) {
			t.Errorf("%.2f of %d are in use", used, n)
		}
		t.Logf("%d slots: %.2f %.2f %.2f", n, w.Had("a"), w.Had("b"), w.Had("c"))
	}
}
