// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/gateway/spool"
	"github.com/headgate-dev/headgate/internal/plan"
)

// TestCallsThatAreNeverPutOff, on routes that defer all they can: each is refused, or passed on, as if there were no
// Defer, whether it is our refusal or the provider's.
func TestCallsThatAreNeverPutOff(t *testing.T) {
	observe := func(r *plan.Route) { r.Observe = true }
	const messages = "/anthropic/v1/messages"
	for name, c := range map[string]struct {
		change       func(*plan.Route)
		method, path string
		body         string
		header       string
		// ours and theirs are the statuses when the limit refuses it, and when the provider says to wait an hour.
		ours, theirs int
		// passes: our limit does not refuse it.
		passes bool
	}{
		"one like the others":      {nil, http.MethodPost, messages, message(10), "", 202, 202, false},
		"a route that observes":    {observe, http.MethodPost, messages, message(10), "", 429, 429, true},
		"a PUT":                    {nil, http.MethodPut, messages, message(10), "", 429, 429, false},
		"a GET that is charged":    {nil, http.MethodGet, "/anthropic/v1/unknown", "", "", 429, 429, false},
		"a free operation":         {nil, http.MethodGet, "/anthropic/v1/models", "", "", 429, 429, true},
		"a free POST":              {nil, http.MethodPost, messages + "/count_tokens", message(10), "", 429, 429, true},
		"a body that is not held":  {nil, http.MethodPost, messages, message(spool.MaxReplayable/2 + 1), "", 429, 429, false},
		"a query that is not kept": {nil, http.MethodPost, messages + "?sig=secret", message(10), "", 429, 429, false},
		"a header that is too big": {nil, http.MethodPost, messages, message(10), strings.Repeat("x", maxStoredValue+1), 429, 429, false},
	} {
		t.Run(name, func(t *testing.T) {
			for cause, want := range map[string]int{"ours": c.ours, "the provider's": c.theirs} {
				r := deferring()
				if cause != "ours" {
					r.Limits[0].Amount, r.Limits[0].Burst = 100, 100
				}
				if c.change != nil {
					c.change(&r)
				}
				s, sends := &shelf{}, 0
				provider := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					sends++
					w.Header().Set("Retry-After", "3600")
					w.WriteHeader(http.StatusTooManyRequests)
				})
				simulate(t, provider, onePolicy(r), func(w *world) {
					w.gateway.opts.Deferrals = s
					w.withKeys(map[string]string{"key": "one.example"})
					if cause == "ours" {
						w.gateway.opts.Deferrals = nil
						w.post(messages, message(10))
						w.gateway.opts.Deferrals = s
						sends = 0
					}
					got := w.do(context.Background(), c.method, c.path, c.body, "Anthropic-Beta", c.header, HeaderCallback, "https://app.example.com/")
					if got.status != want || (len(s.kept) == 1) != (want == http.StatusAccepted) {
						t.Errorf("%s: %d %v %s; %d kept", cause, got.status, got.header, got.body, len(s.kept))
					}
					if sent := sends == 1; sent != (cause != "ours" || c.passes) || sends > 1 {
						t.Errorf("%s: sent %d times", cause, sends)
					}
					w.atRest()
				})
			}
		})
	}
}
