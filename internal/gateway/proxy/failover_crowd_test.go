// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
)

// TestNobodyIsRefusedWhileAFailoverBegins: of a crowd, the first who is told of a wait above the ceiling fails over, and
// so does whoever waits in the queue or comes in at that very moment.
func TestNobodyIsRefusedWhileAFailoverBegins(t *testing.T) {
	for range 20 {
		p := farOff(fine)
		simulate(t, p, pair(func(first, _ *plan.Route) {
			first.Limits = []plan.Limit{perMinute("requests", plan.Requests, 600)}
			first.Limits[0].Burst = 5
		}), func(w *world) {
			var wg sync.WaitGroup
			for i := range 60 {
				wg.Go(func() {
					time.Sleep(time.Duration(i%3) * time.Millisecond)
					if a := w.ask(10); a.status != http.StatusOK || a.header.Get(HeaderFailover) == "" {
						t.Errorf("answer %d %v %s", a.status, a.header, a.body)
					}
				})
			}
			wg.Wait()
			w.atRest()
		})
	}
}
