// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/wire"
)

// A dialect with a URL of its own has its route without a policy, one without has it where a policy's only provider of
// it gives the URL, and Generic never has one. Routes that nobody calls are in no metric.
func TestEveryDialectHasItsBuiltInRoute(t *testing.T) {
	var hosts []string
	s := scripted(func(_ int, w http.ResponseWriter, r *http.Request) {
		hosts = append(hosts, r.Host)
		fail(w, http.StatusOK, `{}`)
	})
	simulate(t, s, onePolicy(), func(w *world) {
		if n := len(w.gateway.Metrics(time.Now())); n != 0 {
			t.Errorf("%d routes without a call are in the metrics", n)
		}
		for _, f := range dialect.All() {
			called := func() bool {
				return w.do(w.t.Context(), http.MethodGet, "/"+f.Route+"/nothing", "").status != http.StatusNotFound
			}
			if f.DefaultBaseURL != "" {
				// The simulated provider speaks no TLS, so it is enough that the route exists.
				if _, ok := w.gateway.table.Load().routes[f.Route]; !ok {
					t.Errorf("/%s is no route", f.Route)
				}
				continue
			}
			if called() {
				t.Errorf("/%s is a route without a URL", f.Route)
			}
			hosts = nil
			w.gateway.Apply(onePolicy(routeTo("mine", f.Name)), time.Now())
			if got := called(); got != f.BuiltIn() || got && (len(hosts) != 1 || hosts[0] != "provider") {
				t.Errorf("/%s leads to the policy's provider: %t %v", f.Route, got, hosts)
			}
			two := onePolicy(routeTo("mine", f.Name), routeTo("yours", f.Name))
			w.gateway.Apply(two, time.Now())
			if called() {
				t.Errorf("/%s leads to one of two", f.Route)
			}
			w.gateway.Apply(onePolicy(), time.Now())
		}
		w.atRest()
	})
}

// However many policies and routes there are, reports and metrics stay within their bounds.
func TestReportsAndMetricsAreBounded(t *testing.T) {
	p := onePolicy()
	p.Policies = nil
	for i := range 12 {
		policy := plan.Policy{Name: fmt.Sprint("p", i), MaxGateways: 4}
		for j := range plan.MaxRoutes {
			policy.Routes = append(policy.Routes, routeTo(fmt.Sprintf("r%d-%d", i, j), "OpenAI"))
		}
		p.Policies = append(p.Policies, policy)
	}
	simulate(t, http.NotFoundHandler(), p, func(w *world) {
		if n := len(w.gateway.Snapshot(time.Now(), true)); n != wire.MaxRoutes {
			t.Errorf("%d routes are reported", n)
		}
		if a := w.post("/nobody", ""); len(a.body) > 1000 || !strings.Contains(a.body, " more.") {
			t.Errorf("a call of no route is told %d bytes: %s", len(a.body), a.body)
		}
		if n := len(w.gateway.Metrics(time.Now())); n != maxMetrics {
			t.Errorf("%d routes are in the metrics", n)
		}
	})
}
