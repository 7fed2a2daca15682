// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/inject"
	"github.com/headgate-dev/headgate/internal/sidecar"
)

func newPolicy(namespace, name string) *v1alpha1.RateLimitPolicy {
	amount := resource.MustParse("400k")
	return &v1alpha1.RateLimitPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.RateLimitPolicySpec{Providers: []v1alpha1.Provider{{
			Name:   "anthropic",
			Limits: []v1alpha1.Limit{{Name: "input-tokens", Budget: v1alpha1.BudgetInputTokens, Amount: amount, Per: v1alpha1.WindowMinute}},
		}}},
	}
}

// warningClient is what a person's kubectl is: it keeps the warnings.
func warningClient(t *testing.T) (client.Client, *warningList) {
	t.Helper()
	heard := &warningList{}
	config := rest.CopyConfig(env.Config)
	config.WarningHandlerWithContext = heard
	c, err := client.New(config, client.Options{Scheme: env.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	return c, heard
}

type warningList struct {
	mu   sync.Mutex
	text []string
}

func (w *warningList) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, text)
}

func (w *warningList) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := strings.Join(w.text, "\n")
	w.text = nil
	return all
}

// TestPolicyWithoutMeaningIsRefused gives the path of what is wrong.
func TestPolicyWithoutMeaningIsRefused(t *testing.T) {
	namespace := env.Namespace(t, nil)
	p := newPolicy(namespace, "bad")
	p.Spec.Providers[0].BaseURL = "ftp://api.example.com"
	err := env.Client.Create(t.Context(), p)
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.providers[0].baseURL") {
		t.Errorf("create: %v", err)
	}
	good := newPolicy(namespace, "good")
	if err := env.Client.Create(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	good.Spec.Providers[0].BaseURL = "ftp://api.example.com"
	if err := env.Client.Update(t.Context(), good); !apierrors.IsInvalid(err) {
		t.Errorf("update: %v", err)
	}
}

// TestUnchangedSpecIsNotJudgedAgain: rules that came later must not keep a policy from going away.
func TestUnchangedSpecIsNotJudgedAgain(t *testing.T) {
	v := &PolicyValidator{}
	old := newPolicy("team-a", "old")
	old.Spec.Providers[0].BaseURL = "ftp://api.example.com"
	labelled := old.DeepCopy()
	labelled.Labels = map[string]string{"a": "b"}
	if _, err := v.ValidateUpdate(t.Context(), old, labelled); err != nil {
		t.Errorf("a label: %v", err)
	}
	changed := labelled.DeepCopy()
	changed.Spec.Mode = v1alpha1.ModeObserve
	if _, err := v.ValidateUpdate(t.Context(), old, changed); err == nil {
		t.Error("a change of a spec without meaning was admitted")
	}
	now := metav1.Now()
	changed.DeletionTimestamp = &now
	if _, err := v.ValidateUpdate(t.Context(), old, changed); err != nil {
		t.Errorf("while it is deleted: %v", err)
	}
}

// TestFirstPolicyNamesThePodsToRestart creates pods, then opts their namespace in, then writes a policy.
func TestFirstPolicyNamesThePodsToRestart(t *testing.T) {
	namespace := env.Namespace(t, nil)
	yes := true
	owned := func(name, hash, kind, owner string) {
		pod := newPod(namespace, name)
		pod.Labels = map[string]string{"pod-template-hash": hash}
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: owner, UID: "1", Controller: &yes}}
		create(t, pod)
	}
	owned("a", "6d9f4c7b5", "ReplicaSet", "support-6d9f4c7b5")
	owned("b", "6d9f4c7b5", "ReplicaSet", "support-6d9f4c7b5")
	owned("c", "", "StatefulSet", "ingest")
	optedOut := newPod(namespace, "d")
	optedOut.Labels = map[string]string{v1alpha1.LabelInject: v1alpha1.InjectDisabled}
	create(t, optedOut)
	annotated := func(name string, hostNetwork bool, annotations map[string]string) {
		pod := newPod(namespace, name)
		pod.Annotations, pod.Spec.HostNetwork = annotations, hostNetwork
		create(t, pod)
	}
	annotated("copied", false, map[string]string{sidecar.AnnotationContract: "1", sidecar.AnnotationOutcome: string(inject.Injected)})
	annotated("on-host", true, map[string]string{sidecar.AnnotationAllowHostNetwork: "true"})
	annotated("on-host-and-skipped", true, nil)
	annotated("skipped", false, map[string]string{sidecar.AnnotationOutcome: "SkippedWindows: the gateway runs on Linux only"})
	c, heard := warningClient(t)
	want := "5 pods run without a gateway, governed only after a restart: kubectl -n " + namespace +
		" rollout restart deployment/support statefulset/ingest"
	label := "kubectl label namespace " + namespace + " headgate.dev/inject=enabled"
	awaitWarning(t, c, heard, namespace, want)
	if text := dryPolicy(t, c, heard, namespace); !strings.Contains(text, label) {
		t.Errorf("nothing says that the namespace is not opted in: %q", text)
	}
	if err := c.Create(t.Context(), newPolicy(namespace, "first")); err != nil {
		t.Fatal(err)
	}
	if text := heard.take(); !strings.Contains(text, want) {
		t.Errorf("the first policy: %q", text)
	}
	deadline := time.Now().Add(patience)
	for strings.Contains(dryPolicy(t, c, heard, namespace), "rollout restart") { // until the cache has the first
		if time.Now().After(deadline) {
			t.Fatal("the second policy says it again")
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// TestApplyTellsWhatLanesAreGuaranteed: whoever applies lanes reads at once what each is sure of.
func TestApplyTellsWhatLanesAreGuaranteed(t *testing.T) {
	namespace := env.Namespace(t, map[string]string{v1alpha1.LabelInject: v1alpha1.InjectEnabled})
	c, heard := warningClient(t)
	p := newPolicy(namespace, "lanes")
	share, from, largest := int32(40), resource.MustParse("20k"), resource.MustParse("60k")
	p.Spec.Providers[0].Lanes = []v1alpha1.Lane{{
		Name: "bulk", Match: &v1alpha1.LaneMatch{MinInputTokens: &from}, LargestCall: &largest, ReservedPercent: &share,
	}}
	if err := c.Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	text := heard.take()
	for _, want := range []string{
		"guaranteed to lane anthropic/bulk: 160k/min of input-tokens, a call of 60k within 22.5s",
		"guaranteed to lane anthropic/default: 240k/min of input-tokens, a call within 250ms for each 1k of it",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q does not say %q", text, want)
		}
	}
}

func TestWarningsOfManyLanesAreBounded(t *testing.T) {
	p := newPolicy("team", "many")
	first := p.Spec.Providers[0]
	p.Spec.Providers = nil
	for i := range 16 {
		one := *first.DeepCopy()
		one.Name, one.BaseURL = fmt.Sprintf("p%d", i), "https://llm.example.com"
		from := resource.MustParse("20k")
		one.Lanes = []v1alpha1.Lane{{Name: "bulk", Match: &v1alpha1.LaneMatch{MinInputTokens: &from}}}
		p.Spec.Providers = append(p.Spec.Providers, one)
	}
	all := guarantees(p)
	if len(all) != maxGuarantees+1 || !strings.HasPrefix(all[maxGuarantees], "16 more lanes: kubectl headgate explain policy") {
		t.Errorf("%d lines, the last %q", len(all), all[len(all)-1])
	}
}

// awaitWarning waits for the cache that the handler reads.
func awaitWarning(t *testing.T, c client.Client, heard *warningList, namespace, want string) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		text := dryPolicy(t, c, heard, namespace)
		if strings.Contains(text, want) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("warnings %q, want %q", text, want)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func dryPolicy(t *testing.T, c client.Client, heard *warningList, namespace string) string {
	t.Helper()
	heard.take()
	if err := c.Create(t.Context(), newPolicy(namespace, "dry"), client.DryRunAll); err != nil {
		t.Fatal(err)
	}
	return heard.take()
}

// TestOnlyTheManagerWritesPlans uses the shipped ValidatingAdmissionPolicy with an administrator, whom
// RBAC does not stop, and with the manager's own rights.
func TestOnlyTheManagerWritesPlans(t *testing.T) {
	namespace := env.Namespace(t, nil)
	manager, err := client.New(managerConfig(), client.Options{Scheme: env.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{sidecar.PlanConfigMap, sidecar.EnvConfigMap} {
		newMap := func(ns, name string) *corev1.ConfigMap {
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Data: map[string]string{"a": "b"}}
		}
		awaitDenied(t, func() error { return env.Client.Create(t.Context(), newMap(namespace, name), client.DryRunAll) })
		if err := manager.Create(t.Context(), newMap(namespace, name)); err != nil {
			t.Fatalf("the manager creates %s: %v", name, err)
		}
		stored := &corev1.ConfigMap{}
		if err := env.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, stored); err != nil {
			t.Fatal(err)
		}
		for what, change := range map[string]func(*corev1.ConfigMap){
			"data":        func(m *corev1.ConfigMap) { m.Data["a"] = "c" },
			"no data":     func(m *corev1.ConfigMap) { m.Data = nil },
			"binary data": func(m *corev1.ConfigMap) { m.BinaryData = map[string][]byte{"x": {1}} },
			"immutable":   func(m *corev1.ConfigMap) { yes := true; m.Immutable = &yes },
		} {
			changed := stored.DeepCopy()
			change(changed)
			if err := env.Client.Update(t.Context(), changed); !apierrors.IsForbidden(err) {
				t.Errorf("somebody else changes %s of %s: %v", what, name, err)
			}
		}
		labelled := stored.DeepCopy()
		labelled.Labels = map[string]string{"a": "b"}
		if err := env.Client.Update(t.Context(), labelled); err != nil {
			t.Errorf("a label: %v", err)
		}
		if err := env.Client.Create(t.Context(), newMap(ownNamespace, name)); err != nil {
			t.Errorf("in our own namespace: %v", err)
		}
		if err := env.Client.Create(t.Context(), newMap(namespace, "theirs-"+name)); err != nil {
			t.Errorf("another ConfigMap: %v", err)
		}
		if err := env.Client.Delete(t.Context(), labelled); err != nil {
			t.Errorf("delete: %v", err)
		}
	}
}

// awaitDenied waits until the API server has compiled the policy, and looks at its message.
func awaitDenied(t *testing.T, write func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := write()
		if apierrors.IsForbidden(err) && strings.Contains(err.Error(), "written by Headgate alone") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("somebody else's write: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
