// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package excess

import (
	"math"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

var start = time.Unix(1000, 0)

// call is one that was made and arrived so many milliseconds after the start.
func call(made, arrived int, units int64) fakeprovider.Arrival {
	h := http.Header{}
	Stamp(h, start.Add(time.Duration(made)*time.Millisecond))
	return fakeprovider.Arrival{
		TimeUnixNano: start.Add(time.Duration(arrived) * time.Millisecond).UnixNano(), InputTokens: units,
		Headers: map[string]string{"x-request-id": h.Get(header)},
	}
}

func TestCertain(t *testing.T) {
	for name, tc := range map[string]struct {
		arrivals []fakeprovider.Arrival
		want     float64
	}{
		"nothing":                     {},
		"the burst at once":           {[]fakeprovider.Arrival{call(0, 0, 500), call(0, 0, 500)}, 0},
		"more than the burst":         {[]fakeprovider.Arrival{call(0, 0, 1000), call(0, 0, 10)}, 10},
		"burst and refill":            {[]fakeprovider.Arrival{call(0, 0, 1000), call(500, 500, 500), call(1000, 1000, 500)}, 0},
		"a pair that is too early":    {[]fakeprovider.Arrival{call(0, 0, 1000), call(1900, 1900, 1000), call(1999, 1999, 200)}, 101},
		"a heap after a delay":        {[]fakeprovider.Arrival{call(0, 4000, 1000), call(1000, 4000, 1000), call(2000, 4000, 1000)}, 0},
		"a heap that nothing excuses": {[]fakeprovider.Arrival{call(3900, 4000, 1000), call(3900, 4000, 1000), call(3950, 4000, 1000)}, 1900},
		"calls that nobody stamped":   {[]fakeprovider.Arrival{{InputTokens: 1e9}}, 0},
		"arrivals out of order":       {[]fakeprovider.Arrival{call(0, 100, 900), call(0, 0, 900)}, 700},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Certain(tc.arrivals, 1000, 1000); math.Abs(got-tc.want) > 1e-6 {
				t.Errorf("%v, want %v", got, tc.want)
			}
		})
	}
}

// TestNoDelayMakesAnExcess: calls that leave a bucket in time arrive whenever, and were made whenever before.
func TestNoDelayMakesAnExcess(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var arrivals []fakeprovider.Arrival
		level, at := 1000.0, 0
		for range 100 {
			units, wait := random.Int64N(500), random.IntN(300)
			level, at = min(1000, level+float64(wait)), at+wait
			if float64(units) > level {
				continue
			}
			level -= float64(units)
			arrivals = append(arrivals, call(at-random.IntN(5000), at+random.IntN(5000), units))
		}
		if got := Certain(arrivals, 1000, 1000); got > 1e-6 {
			t.Fatalf("%v of %+v", got, arrivals)
		}
	}
}
