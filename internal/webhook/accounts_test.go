// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// newAccount is what Anthropic sold to the namespaces named.
func newAccount(name string, namespaces ...string) *v1alpha1.ProviderAccount {
	return &v1alpha1.ProviderAccount{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.ProviderAccountSpec{
			Dialect: v1alpha1.DialectAnthropic,
			Limits: []v1alpha1.Limit{{
				Name: "input-tokens", Budget: v1alpha1.BudgetInputTokens, Amount: resource.MustParse("2M"), Per: v1alpha1.WindowMinute,
			}},
			AllowedNamespaces: &v1alpha1.AllowedNamespaces{Names: namespaces},
		},
	}
}

func createAccount(t *testing.T, a *v1alpha1.ProviderAccount) {
	t.Helper()
	if err := env.Client.Create(t.Context(), a); err != nil {
		t.Fatal(err)
	}
}

// ofAccount is a policy that draws on an account.
func ofAccount(namespace, name, account string) *v1alpha1.RateLimitPolicy {
	p := newPolicy(namespace, name)
	p.Spec.Providers[0].AccountRef = &v1alpha1.AccountRef{Name: account}
	return p
}

func TestAccountWithoutMeaningIsRefused(t *testing.T) {
	bad := newAccount("bad-burst", "team")
	bad.Spec.Limits[0].Budget, bad.Spec.Limits[0].Burst = v1alpha1.BudgetTokens, ptr.To(resource.MustParse("1"))
	err := env.Client.Create(t.Context(), bad)
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.limits[0].burst") {
		t.Errorf("create: %v", err)
	}
	good := newAccount("good", "team")
	createAccount(t, good)
	good.Spec.AllowedNamespaces.Selector = &v1alpha1.NamespaceSelector{MatchLabels: map[string]string{"no label": "x"}}
	if err := env.Client.Update(t.Context(), good); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.allowedNamespaces.selector.matchLabels") {
		t.Errorf("update: %v", err)
	}
}

// Whoever the account does not list is refused, at the field, and told nothing of those who are.
func TestUnlistedNamespacesAreRefused(t *testing.T) {
	listed := env.Namespace(t, nil)
	unlisted := env.Namespace(t, nil)
	labelled := env.Namespace(t, map[string]string{"llm": "shared"})
	shared := newAccount("shared", listed)
	shared.Spec.AllowedNamespaces.Selector = &v1alpha1.NamespaceSelector{MatchLabels: map[string]string{"llm": "shared"}}
	shared.Spec.Tenants = []v1alpha1.Tenant{{Namespace: listed, GuaranteedPercent: ptr.To(int32(40))}}
	createAccount(t, shared)
	closed := newAccount("closed")
	closed.Spec.AllowedNamespaces = nil
	createAccount(t, closed)

	const at = "spec.providers[0].accountRef.name"
	tests := map[string]struct{ namespace, account, want string }{
		"listed":          {listed, "shared", ""},
		"by its label":    {labelled, "shared", ""},
		"unlisted":        {unlisted, "shared", at + ": Forbidden: ProviderAccount shared does not allow this namespace"},
		"nobody listed":   {listed, "closed", at + ": Forbidden: ProviderAccount closed does not allow this namespace"},
		"no such account": {listed, "elsewhere", at + ": Invalid value: \"elsewhere\": there is no ProviderAccount of that name"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := env.Client.Create(t.Context(), ofAccount(tc.namespace, "p-"+tc.account, tc.account))
			if tc.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
			if tc.namespace != listed && strings.Contains(fmt.Sprint(err), listed) {
				t.Errorf("it tells of another namespace: %v", err)
			}
		})
	}
	// An edit that takes the reference up is refused too, and one that gives it up is not.
	plain := newPolicy(unlisted, "edited")
	if err := env.Client.Create(t.Context(), plain); err != nil {
		t.Fatal(err)
	}
	plain.Spec.Providers[0].AccountRef = &v1alpha1.AccountRef{Name: "shared"}
	if err := env.Client.Update(t.Context(), plain); !apierrors.IsInvalid(err) {
		t.Errorf("an edit: %v", err)
	}
}

// An account and a policy that refers to it come in one file: the second must not be refused for a cache that is behind.
func TestAPolicyMayFollowItsAccountAtOnce(t *testing.T) {
	namespace := env.Namespace(t, nil)
	for i := range 10 {
		name := fmt.Sprintf("fresh-%d", i)
		createAccount(t, newAccount(name, namespace))
		if err := env.Client.Create(t.Context(), ofAccount(namespace, name, name)); err != nil {
			t.Fatal(err)
		}
	}
	late := env.Namespace(t, nil)
	byLabel := newAccount("by-fresh-label")
	byLabel.Spec.AllowedNamespaces.Selector = &v1alpha1.NamespaceSelector{MatchLabels: map[string]string{"fresh": "true"}}
	createAccount(t, byLabel)
	var ns corev1.Namespace
	ns.Name, ns.Labels = late, map[string]string{"fresh": "true"}
	if err := env.Client.Update(t.Context(), &ns); err != nil {
		t.Fatal(err)
	}
	if err := env.Client.Create(t.Context(), ofAccount(late, "p", "by-fresh-label")); err != nil {
		t.Error(err)
	}
}

// Whoever takes an account from a namespace is told that its calls are refused from then on.
func TestShuttingANamespaceOutWarns(t *testing.T) {
	c, heard := warningClient(t)
	stays, goes := env.Namespace(t, nil), env.Namespace(t, nil)
	a := newAccount("shrinks", stays, goes)
	createAccount(t, a)
	for _, namespace := range []string{stays, goes} {
		if err := env.Client.Create(t.Context(), ofAccount(namespace, "p", "shrinks")); err != nil {
			t.Fatal(err)
		}
	}
	a.Spec.AllowedNamespaces.Names = []string{stays}
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) { // the cache learns of the policies a moment later
		dry := a.DeepCopy()
		if err := c.Update(t.Context(), dry, client.DryRunAll); err != nil {
			t.Fatal(err)
		}
		said := heard.take()
		if strings.Contains(said, "calls are refused from now on in 1 namespace that is allowed no longer, whose policies refer to the account: "+goes) {
			if strings.Contains(said, stays) {
				t.Errorf("it names the one that stays: %s", said)
			}
			return
		}
		if time.Now().After(end) {
			t.Fatalf("warnings: %q", said)
		}
	}
}
