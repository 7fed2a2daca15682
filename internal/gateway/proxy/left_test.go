// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/canary"
)

// TestA5ACallWhoseClientLeftIsCountedAsThat: also where the provider's refusal comes in just then, whose few bytes can
// still be written.
func TestA5ACallWhoseClientLeftIsCountedAsThat(t *testing.T) {
	for name, status := range map[string]int{"throttled": 429, "overloaded": 529, "refused": 400, "failed": 500} {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
				time.Sleep(2 * time.Second)
				fail(w, status, `{}`)
			})
			simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
				// The provider does not notice that the call is cancelled, and its answer is on its way.
				w.gateway.SetTransport(roundTrips(func(r *http.Request) (*http.Response, error) {
					return w.upstream.RoundTrip(r.WithContext(context.WithoutCancel(r.Context())))
				}))
				ctx, leave := context.WithCancel(context.Background())
				time.AfterFunc(time.Second, leave)
				w.do(ctx, http.MethodPost, anthropicPath, message(10), "x-api-key", canary.Key("1"))
				time.Sleep(5 * time.Second)
				w.endedAs(outcomeCancelled, 1)
				w.atRest()
			})
		})
	}
}
