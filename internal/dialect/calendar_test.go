// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dialect

import (
	"testing"
	"time"
	_ "time/tzdata" // the zones to compare with

	"pgregory.net/rapid"

	_ "github.com/headgate-dev/headgate/internal/testing/seed"
)

// The rule that is written down agrees with the zone database, the hours around both settings of the clock included.
func TestDayEndIsMidnightInCalifornia(t *testing.T) {
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		t.Fatal(err)
	}
	facts, _ := ByName("Gemini")
	check := func(t interface{ Errorf(string, ...any) }, now time.Time) {
		local := now.In(zone)
		want := time.Date(local.Year(), local.Month(), local.Day()+1, 0, 0, 0, 0, zone)
		if got, ok := facts.DayEnd(now); !ok || !got.Equal(want) {
			t.Errorf("at %s the day ends at %s, want %s", now.UTC(), got.UTC(), want.UTC())
		}
	}
	first := time.Date(2024, 1, 1, 0, 30, 0, 0, time.UTC)
	for at := first; at.Year() < 2040; at = at.Add(time.Hour) {
		check(t, at)
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, first.Add(time.Duration(rapid.Int64Range(0, int64(20*365*24*time.Hour)).Draw(t, "at"))))
	})
}

func TestDayEndIsNotClaimedWhereItIsNotDocumented(t *testing.T) {
	for _, f := range All() {
		if _, ok := f.DayEnd(time.Now()); ok != (f.Name == "Gemini") {
			t.Errorf("%s: %t", f.Name, ok)
		}
	}
}
