// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"math"
	"strconv"
	"time"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// amount rounds x as people say it: 123, 4k, 3900, 38k, 427k, 1900k, 2M. Below 1000 it is a whole number,
// below 10k two digits count, above that three, and never less than a whole thousand. The result is a
// whole number with the largest suffix that keeps it one. Negative levels (debt) read 0.
func amount(x float64) v1alpha1.Amount {
	if !(x > 0) {
		return "0"
	}
	return v1alpha1.Amount(withSuffix(roundAmount(min(x, 1e15))))
}

func roundAmount(x float64) int64 {
	step := 1.0
	switch {
	case x >= 999.5 && x < 9950:
		step = 100
	case x >= 9950:
		step = math.Max(1000, math.Pow(10, math.Floor(math.Log10(x))-2))
	}
	return int64(math.Round(x/step) * step)
}

func withSuffix(n int64) string {
	for _, s := range []struct {
		unit   int64
		suffix string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if n >= s.unit && n%s.unit == 0 {
			return strconv.FormatInt(n/s.unit, 10) + s.suffix
		}
	}
	return strconv.FormatInt(n, 10)
}

// raisedAmount is x rounded up to two digits: what a limit would have to be to hold it.
func raisedAmount(x float64) v1alpha1.Amount {
	if !(x > 0) {
		return "0"
	}
	step := math.Max(1, math.Pow(10, math.Floor(math.Log10(x))-1))
	return v1alpha1.Amount(withSuffix(int64(math.Ceil(x/step-1e-9) * step)))
}

// percent is part of whole to one decimal. What is not nothing never reads 0.0%, and what is not all never
// reads 100.0%.
func percent(part, whole float64) v1alpha1.Percent {
	if !(whole > 0) || !(part > 0) {
		return "0.0%"
	}
	p := 100 * part / whole
	switch {
	case p < 0.05:
		return "<0.1%"
	case p < 100 && p >= 99.95:
		return ">99.9%"
	}
	return v1alpha1.Percent(strconv.FormatFloat(min(p, 100), 'f', 1, 64) + "%")
}

// wholePercent is for the shares of pods, where a decimal says nothing.
func wholePercent(part, whole float64) string {
	if !(whole > 0) || !(part > 0) {
		return "0%"
	}
	return strconv.FormatFloat(math.Round(min(100*part/whole, 100)), 'f', 0, 64) + "%"
}

// wait rounds d as people say it: 3ms, 300ms, 1.5s, 27s, 2m30s, 12m, 3h.
func wait(d time.Duration) v1alpha1.Wait {
	switch {
	case d <= 0:
		return "0s"
	case d < 10*time.Millisecond:
		d = max(d.Round(time.Millisecond), time.Millisecond)
	case d < time.Second:
		d = d.Round(10 * time.Millisecond)
	case d < 10*time.Second:
		d = d.Round(100 * time.Millisecond)
	case d < 2*time.Minute:
		d = d.Round(time.Second)
	case d < 10*time.Minute:
		d = d.Round(10 * time.Second)
	default:
		d = d.Round(time.Minute)
	}
	return v1alpha1.Wait(withoutZeroUnits(d))
}

// span rounds the time that figures cover: 20s, 1m, 1m30s, 5m.
func span(d time.Duration) v1alpha1.Wait {
	switch {
	case d < 10*time.Second:
		d = max(d.Round(time.Second), time.Second)
	case d < 55*time.Second:
		d = d.Round(10 * time.Second)
	default:
		d = d.Round(30 * time.Second)
	}
	if d >= time.Minute {
		return v1alpha1.Wait(inUnits(d))
	}
	return v1alpha1.Wait(withoutZeroUnits(d))
}

// withoutZeroUnits writes 2m instead of Go's 2m0s, and seconds up to two minutes as seconds.
func withoutZeroUnits(d time.Duration) string {
	if d < 2*time.Minute {
		if d < time.Second {
			return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
		}
		return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
	}
	return inUnits(d)
}

// inUnits writes whole hours, minutes and seconds, without those that are zero.
func inUnits(d time.Duration) string {
	out := ""
	for _, part := range []struct {
		n    int64
		unit string
	}{
		{int64(d / time.Hour), "h"}, {int64(d % time.Hour / time.Minute), "m"}, {int64(d % time.Minute / time.Second), "s"},
	} {
		if part.n > 0 {
			out += strconv.FormatInt(part.n, 10) + part.unit
		}
	}
	return out
}
