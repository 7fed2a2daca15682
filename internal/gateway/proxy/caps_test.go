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

// A provider's wait is waited whatever windows the policy's own limits have: an allowance of an hour or a day is not
// used up by it.
func TestWaitsAreHonouredUnderLimitsOfHoursAndDays(t *testing.T) {
	for name, window := range map[string]int64{"minute": 60, "hour": 3600, "day": 86400} {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
				if n == 1 {
					throttle(w, "Retry-After", "2")
					return
				}
				answerOK(w)
			})
			limits := []plan.Limit{
				{Name: "requests", Budget: plan.Requests, Amount: 36_000, WindowSeconds: window, Burst: 36_000},
				{Name: "input", Budget: plan.InputTokens, Amount: 36_000_000, WindowSeconds: window, Burst: 36_000_000},
			}
			simulate(t, s, onePolicy(anthropicRoute(limits...)), func(w *world) {
				var wg sync.WaitGroup
				for i := range 5 {
					wg.Go(func() {
						time.Sleep(time.Duration(i) * 100 * time.Millisecond)
						a := w.ask(10)
						if a.status != http.StatusOK || a.took < 1500*time.Millisecond {
							t.Errorf("call %d: answer %d after %s: %s", i, a.status, a.took, a.body)
						}
					})
				}
				wg.Wait()
				w.atRest()
			})
		})
	}
}
