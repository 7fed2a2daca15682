// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package html

import (
	"math"
	"strconv"
)

// The size of a plot in its own units; the page scales it to the column.
const (
	width, height         = 480, 236
	marginLeft            = 54
	marginRight           = 14
	marginTop             = 14
	marginBottom          = 42
	plotRight, plotBottom = width - marginRight, height - marginBottom
)

// tick is a mark of an axis.
type tick struct {
	At    float64
	Label string
	// First of an axis is not centred, so that it keeps clear of the other axis' labels.
	First bool
}

// axis maps values to places.
type axis struct {
	from, to   float64 // values
	start, end float64 // places
	log        bool
}

func (a axis) at(v float64) float64 {
	from, to := a.from, a.to
	v = min(max(finite(v), from), to)
	if a.log {
		from, to, v = math.Log10(from), math.Log10(to), math.Log10(v)
	}
	if to <= from {
		return a.start
	}
	return a.start + (a.end-a.start)*(v-from)/(to-from)
}

// nice is the least of 1, 2 and 5 times a power of ten that divides span into at most n parts.
func nice(span float64, n int) float64 {
	if span <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(span/float64(n))))
	for _, m := range [...]float64{1, 2, 5} {
		if span/(m*power) <= float64(n)+1e-9 {
			return m * power
		}
	}
	return 10 * power
}

// upAxis is a vertical axis that holds low and high and ends at ticks.
func upAxis(low, high float64) (axis, []tick) {
	low, high = min(0, finite(low)), max(0, finite(high))
	if high-low < 1e-9 {
		high = low + 1
	}
	step := nice(high-low, 5)
	first, last := math.Floor(low/step+1e-9), math.Ceil(high/step-1e-9)
	a := axis{from: first * step, to: last * step, start: plotBottom, end: marginTop}
	if first == -1 && last > 1 {
		first, a.from = 0, low // a little debt needs no mark of its own
	}
	var ticks []tick
	for i := first; i <= last; i++ {
		ticks = append(ticks, tick{At: a.at(i * step), Label: short(i * step)})
	}
	return a, ticks
}

// clockSteps are what people divide time by, in seconds.
var clockSteps = [...]float64{
	0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200,
	86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000,
}

// timeAxis is a horizontal axis of the seconds from 0 to end, and its unit.
func timeAxis(end float64) (axis, []tick, string) {
	end = finite(end)
	if end <= 0 {
		end = 1
	}
	a := axis{to: end, start: marginLeft, end: plotRight}
	step := clockSteps[len(clockSteps)-1]
	for _, s := range clockSteps {
		if end/s <= 6+1e-9 {
			step = s
			break
		}
	}
	size, unit := 1.0, "seconds"
	switch {
	case end > 2*86400:
		size, unit = 86400, "days"
	case end > 3*3600:
		size, unit = 3600, "hours"
	case end > 180:
		size, unit = 60, "minutes"
	}
	step = max(step, end/12)
	var ticks []tick
	for v := 0.0; v <= end*(1+1e-9); v += step {
		ticks = append(ticks, tick{At: a.at(v), Label: decimal(v / size)})
	}
	return a, ticks, unit
}

// The waits that a distribution shows: what is shorter is drawn at the left edge.
const leastWait = 0.01

// waitAxis is a horizontal, logarithmic axis from leastWait to beyond longest: the last step is to be seen.
func waitAxis(longest float64) (axis, []tick) {
	a := axis{from: leastWait, to: 1, start: marginLeft, end: plotRight, log: true}
	for longest = min(finite(longest), 1e8); a.to < 2*longest; {
		a.to *= 10
	}
	var ticks []tick
	for v := a.from; v <= a.to*1.01; v *= 10 {
		label := strconv.FormatFloat(v, 'g', 3, 64)
		if v > 999 {
			label = short(v)
		}
		ticks = append(ticks, tick{At: a.at(v), Label: label})
	}
	ticks[0].Label, ticks[0].First = "≤ "+ticks[0].Label, true
	return a, ticks
}
