// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"net/http"
	"testing"

	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/policy/decide"
)

// TestACallThatCannotWaitForAProbeIsPutOff where the policy puts off what cannot be made in time, and not where it does
// so for another cause: nobody has stated a wait above the ceiling.
func TestACallThatCannotWaitForAProbeIsPutOff(t *testing.T) {
	for name, tc := range map[string]struct {
		change   func(*plan.Route)
		err      error
		deadline string
		status   int
		reason   string
	}{
		"no time for it":             {nil, nil, "100ms", http.StatusAccepted, "Deadline"},
		"no room":                    {nil, ErrDeferredFull, "100ms", http.StatusServiceUnavailable, ReasonDeferredFull},
		"a store that fails":         {nil, errors.New("disk full"), "100ms", http.StatusServiceUnavailable, reasonOverloaded},
		"a policy that declines":     {func(r *plan.Route) { r.Deadline.OnExceeded, r.Deferred = "", nil }, nil, "100ms", http.StatusServiceUnavailable, reasonOverloaded},
		"a policy of another cause":  {func(r *plan.Route) { r.Deadline.OnExceeded = "" }, nil, "100ms", http.StatusServiceUnavailable, reasonOverloaded},
		"time enough, asked in vain": {nil, nil, "10m", 529, string(decide.RetryBudget)},
	} {
		t.Run(name, func(t *testing.T) {
			r := deferring()
			r.Limits = canonical
			if tc.change != nil {
				tc.change(&r)
			}
			s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { fail(w, 529, overloaded) })
			kept := &shelf{err: tc.err}
			simulate(t, s, onePolicy(r), func(w *world) {
				w.gateway.opts.Deferrals = kept
				w.withKeys(map[string]string{"key": "one.example"})
				for range 3 {
					w.ask(10, HeaderDeadline, "1m")
				}
				kept.kept = nil
				sends := s.count()
				a := w.ask(10, HeaderDeadline, tc.deadline)
				if a.status != tc.status || a.header.Get(HeaderReason) != tc.reason || a.header.Get("Retry-After") == "" {
					t.Errorf("answer %d %v %s", a.status, a.header, a.body)
				}
				if tc.deadline == "100ms" && s.count() != sends {
					t.Errorf("%d sends", s.count()-sends)
				}
				if got := len(kept.kept) == 1; got != (tc.status == http.StatusAccepted) {
					t.Errorf("%d are kept", len(kept.kept))
				}
				w.atRest()
			})
		})
	}
}

// TestACallKeptBackIsChargedOnce: what waits for a probe is not made meanwhile, and takes no request from the policy.
func TestACallKeptBackIsChargedOnce(t *testing.T) {
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { fail(w, 529, overloaded) })
	simulate(t, s, onePolicy(anthropicRoute(canonical...)), func(w *world) {
		w.overload()
		before, sends := w.figures("anthropic").spent("requests"), s.count()
		for range 20 {
			w.ask(10, HeaderDeadline, "100ms")
		}
		if took := w.figures("anthropic").spent("requests") - before; int(took) != s.count()-sends {
			t.Errorf("%v requests are charged for %d sends", took, s.count()-sends)
		}
		w.atRest()
	})
}
