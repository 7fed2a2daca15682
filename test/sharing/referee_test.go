// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"math"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

func TestTheRefereeFindsTheWorstInterval(t *testing.T) {
	start := time.Unix(1000, 0)
	at := func(ms int, cost int64) fakeprovider.Arrival {
		return fakeprovider.Arrival{TimeUnixNano: start.Add(time.Duration(ms) * time.Millisecond).UnixNano(), InputTokens: cost, Verdict: "Admitted"}
	}
	for name, tc := range map[string]struct {
		arrivals    []fakeprovider.Arrival
		excess, use float64
	}{
		"nothing":              {},
		"the burst at once":    {[]fakeprovider.Arrival{at(0, 500), at(0, 500)}, 0, 0.5},
		"more than the burst":  {[]fakeprovider.Arrival{at(0, 1000), at(0, 10)}, 10, 0.505},
		"burst and the refill": {[]fakeprovider.Arrival{at(0, 1000), at(500, 500), at(1000, 500)}, 0, 1},
		"a late pair": {
			// 100 a millisecond too early, after a rest in which nothing was saved up beyond the burst.
			[]fakeprovider.Arrival{at(0, 1000), at(1900, 1000), at(1999, 200)}, 101, 2200.0 / 3100,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := judge(tc.arrivals, 1000, 1000, start, start.Add(2*time.Second))
			if math.Abs(f.excess-tc.excess) > 1e-6 || math.Abs(f.utilisation-tc.use) > 1e-9 {
				t.Errorf("%+v, want excess %v, utilisation %v", f, tc.excess, tc.use)
			}
		})
	}
}
