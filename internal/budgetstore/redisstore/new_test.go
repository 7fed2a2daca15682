// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"fmt"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
)

// TestALimitThatTheStoreDoesNotKnow begins with nothing, and fills at the rate from the first draw on: after the first moment
// all of that is granted but what half of a burst has no room for, and nothing is before.
func TestALimitThatTheStoreDoesNotKnow(t *testing.T) {
	s := open(t)
	const rate = 100.0
	for i, capacity := range []float64{150, 300, 1000} {
		t.Run(fmt.Sprint(capacity), func(t *testing.T) {
			w := newWorld(t, s, int64(900+i), pool.Budget{Name: "tokens", Rate: rate, Capacity: capacity, SmallCall: 1, External: true})
			w.fate.delay = 2 * time.Millisecond
			d := w.join("first")
			for w.now < 20*time.Second {
				w.step(moment)
				d.purse.demand[0] = 500
				w.spend(d, 0, 500)
				at, spent := w.now.Seconds(), w.meters[0].spent
				if at < 1.4 && spent > 0 {
					t.Fatalf("%v was granted after %v s", spent, at)
				}
				// A draw each 100 ms, which is answered at the next look.
				if least := rate*(at-0.3) - max(0, 1.5*rate-capacity/2); at > 2 && spent < least {
					t.Fatalf("%v s after the first draw %v was granted, at least %v is to be", at, spent, least)
				}
				if spent > rate*at+1e-6 {
					t.Fatalf("%v was granted after %v s", spent, at)
				}
			}
		})
	}
}
