// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/test/demo/load"
)

// A policy edit does not wait for the kubelet: 2s after kubectl has returned, at the latest, it is what happens.
func TestPolicyEditIsEnforcedWithinTwoSeconds(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	n.apply(t, smallest)
	app := n.startApp(t, "app")
	n.eventually(t, time.Minute, "the pod is governed", pods(1, 1, 1, 1))
	mustCall(t, app, load.Call{InputTokens: 100})

	n.setAmount(t, "0")
	took := n.until(t, app, func(o load.Outcome) bool { return o.Failure == load.Declined })
	t.Logf("amount 0: refused %d ms after kubectl patch had returned", took.Milliseconds())
	arrived := len(n.arrivals(t))
	if o, err := call(t.Context(), app, load.Call{InputTokens: 100}); err != nil || o.OK {
		t.Errorf("a later call: %+v, %v", o, err)
	}
	n.mustArrive(t, arrived)

	n.setAmount(t, "400k")
	took = n.until(t, app, func(o load.Outcome) bool { return o.OK })
	t.Logf("amount 400k: a call passed %d ms after kubectl patch had returned", took.Milliseconds())
}

func (n tenant) setAmount(t *testing.T, amount string) {
	t.Helper()
	mustKubectl(t, "", "patch", "ratelimitpolicy", "default", "-n", n.name, "--type=json",
		"-p", `[{"op": "replace", "path": "/spec/providers/0/limits/0/amount", "value": "`+amount+`"}]`)
}

// until makes calls, one after another, until one ends as wanted, and returns when that one was started. One that is
// started later than 2s must.
func (n tenant) until(t *testing.T, app *corev1.Pod, ended func(load.Outcome) bool) time.Duration {
	t.Helper()
	began := time.Now()
	for {
		since := time.Since(began)
		out, err := call(t.Context(), app, load.Call{InputTokens: 100})
		if err != nil {
			t.Fatal(err)
		}
		if ended(out) {
			return since
		}
		if since > 2*time.Second {
			t.Fatalf("a call started %s after the edit ended so: %+v", since, out)
		}
	}
}
