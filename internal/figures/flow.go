// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package figures

import "time"

// Flow is an amount that went by.
type Flow struct {
	// Amounts of the last five minutes, hour and day, and the time each covers.
	recent, hour, day             float64
	recentOver, hourOver, dayOver time.Duration
	// The busiest ten seconds and minute of the last five.
	busiestSlot, busiestMinute float64
}

// Per returns the amount per window.
//
// For windows up to five minutes it is the amount of the last five minutes over the time that had traffic
// (PolicyFigures.Over), for longer ones that of the last hour or day over the time that was watched. What
// covers less than the window is not extrapolated: one call in the first second of a minute is no sixty.
func (f Flow) Per(window time.Duration) float64 {
	amount, over := f.recent, f.recentOver
	switch {
	case window > time.Hour:
		amount, over = f.day, f.dayOver
	case window > Window:
		amount, over = f.hour, f.hourOver
	}
	over = max(over, window)
	if over <= 0 {
		return 0
	}
	return amount * float64(window) / float64(over)
}

// Peak returns the amount per window while most went by: of a minute the busiest one, of a second that of
// the busiest ten. Where nothing shorter than the window is known, it is Per.
func (f Flow) Peak(window time.Duration) float64 {
	switch average := f.Per(window); {
	case window <= 0 || window > time.Minute:
		return average
	case window <= recentSlot:
		return max(average, f.busiestSlot*float64(window)/float64(recentSlot))
	default:
		return max(average, f.busiestMinute*float64(window)/float64(time.Minute))
	}
}

// Recent is the amount of the last five minutes.
func (f Flow) Recent() float64 { return f.recent }

// RecentOver is the time of them that had traffic.
func (f Flow) RecentOver() time.Duration { return f.recentOver }

// NewFlow makes a flow of an amount that was seen over the last over, evenly; for tests of what reads flows.
func NewFlow(amount float64, over time.Duration) Flow {
	part := func(of time.Duration) float64 { return amount * float64(of) / float64(max(over, of, 1)) }
	return Flow{
		recent: amount, hour: amount, day: amount, recentOver: over, hourOver: over, dayOver: over,
		busiestSlot: part(recentSlot), busiestMinute: part(time.Minute),
	}
}
