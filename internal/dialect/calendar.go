// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dialect

import "time"

// Day is the day after which a provider's daily allowances begin anew.
type Day string

// The days; "" is none that is documented.
const (
	// PacificDay ends at midnight in California.
	PacificDay Day = "Pacific"
)

// DayEnd is when the provider's day that now is in ends; false where its documents do not say.
func (f Facts) DayEnd(now time.Time) (time.Time, bool) {
	if f.AllowanceDay != PacificDay {
		return time.Time{}, false
	}
	local := now.Add(pacificOffset(now)).UTC()
	midnight := time.Date(local.Year(), local.Month(), local.Day()+1, 0, 0, 0, 0, time.UTC)
	// The clock may be set between now and midnight.
	for _, offset := range [...]time.Duration{daylight, standard} {
		if end := midnight.Add(-offset); pacificOffset(end) == offset {
			return end, true
		}
	}
	return midnight.Add(-standard), true
}

const (
	standard = -8 * time.Hour
	daylight = -7 * time.Hour
)

// pacificOffset is California's offset from UTC: daylight time from the second Sunday in March, 2 o'clock, to the
// first in November, 2 o'clock. It is written down here since the gateway's image has no time zones.
func pacificOffset(t time.Time) time.Duration {
	year := t.Add(standard).UTC().Year()
	begins := sunday(year, time.March, 8).Add(2*time.Hour - standard)
	ends := sunday(year, time.November, 1).Add(2*time.Hour - daylight)
	if t.Before(begins) || !t.Before(ends) {
		return standard
	}
	return daylight
}

// sunday is the first Sunday of the month on or after the day.
func sunday(year int, month time.Month, day int) time.Time {
	t := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	return t.AddDate(0, 0, (7-int(t.Weekday()))%7)
}
