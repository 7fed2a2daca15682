// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
	"github.com/headgate-dev/headgate/test/demo/load"
)

// account allows two namespaces so many requests a minute together, the first of them 80 % for sure.
func account(name, first, second string) string {
	return fmt.Sprintf(`
apiVersion: headgate.dev/v1alpha1
kind: ProviderAccount
metadata: {name: %s}
spec:
  dialect: Anthropic
  limits:
  - {name: requests, budget: Requests, amount: 600, per: Minute, burst: 20}
  allowedNamespaces: {names: [%s, %s]}
  tenants:
  - {namespace: %s, guaranteedPercent: 80}
  maxGateways: 4
`, name, first, second, first)
}

// referring is a policy without limits of its own.
func referring(account string) string {
	return fmt.Sprintf(`
apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: default}
spec:
  providers:
  - name: anthropic
    baseURL: https://provider.llm-provider.svc
    credentialKey: anthropic
    accountRef: {name: %s}
    deadline: {default: 10s}
`, account)
}

// TestNamespacesShareAnAccount: what two namespaces send together stays within what the provider sold, the one with a
// guarantee has it, and a third is refused.
func TestNamespacesShareAnAccount(t *testing.T) {
	t.Parallel()
	name := "e2e-" + slug(t.Name())
	a, b, other := newTenant(t, "tenant", "a"), newTenant(t, "tenant", "b"), newTenant(t, "tenant", "c")
	mustKubectl(t, account(name, a.name, b.name), "apply", "-f", "-")
	t.Cleanup(func() { _, _ = kubectl(t, "", "delete", "provideraccount", name, "--ignore-not-found") })
	within(t, time.Minute, "a namespace that is not listed is told so", func(context.Context) error {
		out, err := kubectl(t, referring(name), "apply", "-n", other.name, "-f", "-")
		switch {
		case err == nil:
			t.Fatalf("a namespace that is not listed: %q", out)
		case !strings.Contains(out, "accountRef"): // a slow API server is an internal error, to be tried again
			return fmt.Errorf("%q, %w", out, err)
		}
		return nil
	})
	apps := map[tenant]*corev1.Pod{}
	for _, n := range []tenant{a, b} {
		n.apply(t, referring(name))
		apps[n] = n.startApp(t, "app")
		n.eventually(t, time.Minute, "the pod is governed", pods(1, 1, 1, 1))
		mustCall(t, apps[n], load.Call{InputTokens: 10})
	}
	sent := oversubscribe(t, apps, 30*time.Second)
	t.Logf("with the guarantee %d calls went, without %d", sent[a], sent[b])
	both := slices.Concat(a.arrivals(t), b.arrivals(t))
	slices.SortFunc(both, func(x, y fakeprovider.Arrival) int { return cmp.Compare(x.TimeUnixNano, y.TimeUnixNano) })
	mustStayBelow(t, both, 10, 20)
	if sent[a] < 2*sent[b] || sent[b] == 0 || sent[a]+sent[b] < 150 {
		t.Errorf("80 %% of 10 calls a second for 30 seconds are due to the one, and the rest to the other: %d and %d", sent[a], sent[b])
	}
	within(t, time.Minute, "the account's status", func(ctx context.Context) error {
		var got v1alpha1.ProviderAccount
		if err := api.Get(ctx, types.NamespacedName{Name: name}, &got); err != nil {
			return err
		}
		for _, c := range got.Status.Conditions {
			if c.Type == "Accepted" && c.Status == metav1.ConditionTrue && len(got.Status.Namespaces) == 2 {
				return nil
			}
		}
		return fmt.Errorf("status %+v", got.Status)
	})
	t.Log(mustKubectl(t, "", "get", "pacct", name))
}

// oversubscribe has both apps make more calls than the account has, and counts those that went.
func oversubscribe(t *testing.T, apps map[tenant]*corev1.Pod, length time.Duration) map[tenant]int {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	sent := map[tenant]int{}
	end := time.Now().Add(length)
	for n, app := range apps {
		for range 24 {
			all.Go(func() {
				for time.Now().Before(end) {
					out, err := call(t.Context(), app, load.Call{InputTokens: 10})
					if err == nil && out.OK {
						mu.Lock()
						sent[n]++
						mu.Unlock()
					}
					if !out.OK {
						time.Sleep(200 * time.Millisecond)
					}
				}
			})
		}
	}
	all.Wait()
	return sent
}
