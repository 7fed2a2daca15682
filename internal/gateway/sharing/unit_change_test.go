// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
)

// TestC12ALimitThatCountsAnotherUnitLetsNoMoreThrough, and freezes nobody: its name stays, and tokens in hand are no requests.
func TestC12ALimitThatCountsAnotherUnitLetsNoMoreThrough(t *testing.T) {
	route := func(counts string, amount, burst int64) plan.Route {
		r := oneASecond()
		r.Limits = []plan.Limit{{Name: "main", Budget: counts, Amount: amount, WindowSeconds: 60, Burst: burst}}
		return r
	}
	tokens, requests := route(plan.InputTokens, 600_000, 600_000), route(plan.Requests, 60, 10)
	for name, tc := range map[string]struct {
		from, to    plan.Route
		least, most int
	}{
		"tokens to requests": {tokens, requests, 30, 60 + 10},
		"requests to tokens": {requests, tokens, 100, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1, tc.from, 2)
			a, b := w.join("a", true), w.join("b", true)
			w.run(10 * time.Second)
			for range 50 {
				a.ask(5000, 0, 0)
				b.ask(5000, 0, 0)
			}
			w.run(5 * time.Second)
			before := a.went + b.went
			w.putInForce(tc.to)
			for range 500 {
				a.ask(100, 0, 0)
				b.ask(100, 0, 0)
			}
			w.run(time.Minute)
			if went := a.went + b.went - before; went < tc.least || went > tc.most {
				t.Errorf("%d calls went in a minute: %s, %s", went, a, b)
			}
		})
	}
}
