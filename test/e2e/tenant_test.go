// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// tenant is a test's namespace, with an account of its own at the provider.
type tenant struct {
	name string
	key  string
}

// keyPrefix begins every account's key; no log or object of ours may show it.
const keyPrefix = "demo-account"

// newTenant makes a namespace that asks for injection; labels are added to its own.
func newTenant(t *testing.T, labels ...string) tenant {
	t.Helper()
	name := fmt.Sprintf("e2e-%s-%05d", slug(t.Name()), rand.IntN(100_000))
	n := tenant{name: name, key: keyPrefix + "-" + name}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1alpha1.LabelInject: v1alpha1.InjectEnabled}}}
	for i := 0; i+1 < len(labels); i += 2 {
		ns.Labels[labels[i]] = labels[i+1]
	}
	create(t, ns)
	t.Cleanup(func() { n.end(t) })
	create(t, n.credentials())
	within(t, 20*time.Second, "the namespace's service account", func(ctx context.Context) error {
		return api.Get(ctx, types.NamespacedName{Namespace: name, Name: "default"}, &corev1.ServiceAccount{})
	})
	return n
}

// slug is a test's name as part of a namespace's.
func slug(name string) string {
	name = strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, "Test"), "/", "-"))
	return name[:min(len(name), 40)]
}

func (n tenant) credentials() *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "headgate-credentials", Namespace: n.name},
		StringData: map[string]string{"anthropic": n.key, "anthropic.hosts": providerHost, "openai": n.key, "openai.hosts": providerHost},
	}
}

// end shows a failed test's objects, searches what was said for secrets, and removes the namespace.
func (n tenant) end(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if t.Failed() {
		n.show(ctx, t)
	}
	n.mustKeepSecrets(ctx, t)
	err := api.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n.name}})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Errorf("delete namespace %s: %v", n.name, err)
	}
}

func create(t *testing.T, object client.Object) {
	t.Helper()
	if err := api.Create(t.Context(), object); err != nil {
		t.Fatalf("create %T %s: %v", object, object.GetName(), err)
	}
}

// apply applies documents in the tenant's namespace with kubectl, as people do.
func (n tenant) apply(t *testing.T, documents string) string {
	t.Helper()
	return mustKubectl(t, documents, "apply", "-n", n.name, "-f", "-")
}

// policy reads the policy default.
func (n tenant) policy(ctx context.Context) (*v1alpha1.RateLimitPolicy, error) {
	var p v1alpha1.RateLimitPolicy
	err := api.Get(ctx, types.NamespacedName{Namespace: n.name, Name: "default"}, &p)
	return &p, err
}

// smallest is the smallest policy, at the simulated provider.
const smallest = `
apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: default}
spec:
  providers:
  - name: anthropic
    baseURL: https://provider.llm-provider.svc
    credentialKey: anthropic
    limits:
    - {name: input-tokens, budget: InputTokens, amount: 400k, per: Minute}
`

// requestsPolicy allows so many requests a minute, and so many at once.
func requestsPolicy(perMinute, burst int) string {
	return strings.Replace(smallest, "{name: input-tokens, budget: InputTokens, amount: 400k, per: Minute}",
		fmt.Sprintf("{name: requests, budget: Requests, amount: %d, per: Minute, burst: %d}", perMinute, burst), 1)
}
