// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package html

import (
	"math"
	"testing"

	"github.com/headgate-dev/headgate/internal/simulate/result"
)

func TestNumbersAsPeopleWriteThem(t *testing.T) {
	for want, got := range map[string]string{
		"0": whole(0), "−1,234": whole(-1234), "1,000,000": whole(999_999.6), "12": whole(12.4),
		"400k": short(400_000), "1.5M": short(1.5e6), "0.2": short(0.2), "−3k": short(-3000), "1.23G": short(1.234e9),
		"0 s": seconds(0), "310 ms": seconds(0.31), "9 s": seconds(9), "22.5 s": seconds(22.5), "10 min": seconds(600),
		"2 h": seconds(7200), "15 µs": seconds(15e-6), "1 s": seconds(0.9999),
		"–": percent(1, 0), "100 %": percent(3, 3), "99.9 %": percent(99_999, 100_000), "< 0.1 %": percent(1, 100_000),
		"33.3 %": percent(1, 3), "0 %": percent(0, 5),
		"1 call": plural(1, "call"), "2,000 calls": plural(2000, "call"),
		"0.994123": figureText(0.99412345), "15": figureText(15), "−2": figureText(-2), "≈ 0": figureText(1e-9),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAxesHoldTheirValues(t *testing.T) {
	for _, span := range [][2]float64{{0, 0}, {0, 1}, {-20, 400_000}, {-5, 5}, {0, 1e-6}, {0, 1e15}, {-1e9, 0}, {3, 7}} {
		a, ticks := upAxis(span[0], span[1])
		if a.from > min(0, span[0]) || a.to < span[1] || len(ticks) < 2 || len(ticks) > 8 {
			t.Errorf("%v: axis from %v to %v with %d marks", span, a.from, a.to, len(ticks))
		}
		for i, tick := range ticks {
			if tick.At < marginTop-1e-6 || tick.At > plotBottom+1e-6 || i > 0 && ticks[i-1].Label == tick.Label {
				t.Errorf("%v: mark %+v", span, tick)
			}
		}
	}
	for _, end := range []float64{0, 0.5, 10, 59, 60, 600, 3600, 86_400, 1e6, 1e9, math.Inf(1)} {
		if _, ticks, unit := timeAxis(end); len(ticks) < 3 || len(ticks) > 13 || unit == "" {
			t.Errorf("%v s: %d marks in %s", end, len(ticks), unit)
		}
	}
	if x, ticks := waitAxis(120); x.to != 1000 || len(ticks) != 6 || x.at(0) != marginLeft || math.Abs(x.at(1000)-plotRight) > 1e-9 {
		t.Errorf("waits up to %v with %d marks", x.to, len(ticks))
	}
}

// TestThinningLosesNoPeak: of many points few are drawn, the highest and the lowest among them.
func TestThinningLosesNoPeak(t *testing.T) {
	points := make([]result.Point, 10_000)
	for i := range points {
		points[i].Seconds = float64(i)
	}
	points[1234].Value, points[8765].Value = 50, -3
	got := thin(points, 100)
	high, low := 0.0, 0.0
	for i, p := range got {
		high, low = max(high, p.Value), min(low, p.Value)
		if i > 0 && p.Seconds < got[i-1].Seconds {
			t.Fatalf("point %d is before the one before it", i)
		}
	}
	if len(got) > 102 || high != 50 || low != -3 || got[0] != points[0] || got[len(got)-1] != points[9999] {
		t.Errorf("%d points from %v to %v", len(got), low, high)
	}
}
