// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/sidecar"
	"github.com/headgate-dev/headgate/internal/testing/canary"
)

func TestStartServesTheAPI(t *testing.T) {
	env := Start(t, Options{})
	namespace := env.Namespace(t, map[string]string{"a": "b"})
	var policies v1alpha1.RateLimitPolicyList
	if err := env.Client.List(t.Context(), &policies, client.InNamespace(namespace)); err != nil {
		t.Fatalf("list policies: %v", err)
	}
	out := env.RunKubectl(t, "version")
	if !strings.Contains(out, KubeVersion) {
		t.Errorf("kubectl version says %q, want %s", out, KubeVersion)
	}

	stranger, err := client.New(env.User(t, "stranger"), client.Options{Scheme: env.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	err = stranger.List(context.Background(), &corev1.SecretList{}, client.InNamespace(namespace))
	if !apierrors.IsForbidden(err) {
		t.Errorf("a user without rights gets %v, want Forbidden", err)
	}
}

func TestAssetsMissingSaysWhatToRun(t *testing.T) {
	for _, variable := range []string{"KUBEBUILDER_ASSETS", "HEADGATE_KUBE_DIR"} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv("KUBEBUILDER_ASSETS", "")
			t.Setenv("HEADGATE_KUBE_DIR", "")
			t.Setenv(variable, t.TempDir())
			_, err := AssetsDir()
			if err == nil || !strings.Contains(err.Error(), "make kube-assets") {
				t.Errorf("AssetsDir() = %v, want an error that names make kube-assets", err)
			}
			if _, err := New(Options{}); err == nil {
				t.Error("New starts without binaries")
			}
		})
	}
}

func TestAssetsOrder(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	for _, dir := range []string{first, second} {
		for _, name := range []string{"etcd", "kube-apiserver"} {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Setenv("KUBEBUILDER_ASSETS", first)
	t.Setenv("HEADGATE_KUBE_DIR", second)
	if got, err := AssetsDir(); err != nil || got != first {
		t.Errorf("AssetsDir() = %q, %v, want KUBEBUILDER_ASSETS", got, err)
	}
	t.Setenv("KUBEBUILDER_ASSETS", "")
	if got, err := AssetsDir(); err != nil || got != second {
		t.Errorf("AssetsDir() = %q, %v, want HEADGATE_KUBE_DIR", got, err)
	}
}

// TestWrittenIsAllButWhatWasGiven: a key of an app is found wherever it was put but where apps have theirs.
func TestWrittenIsAllButWhatWasGiven(t *testing.T) {
	env := Start(t, Options{})
	ns := env.Namespace(t, nil)
	pod := func(name, container string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns}, Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: container, Image: "app", Env: []corev1.EnvVar{{Name: "ANTHROPIC_API_KEY", Value: AppKey}}},
		}}}
	}
	meta := metav1.ObjectMeta{Name: "leak", Namespace: ns}
	for name, tc := range map[string]struct {
		object client.Object
		finds  bool
	}{
		"an app's pod":       {pod("app", "app"), false},
		"the manager's keys": {&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "headgate-ca", Namespace: ns}, Data: map[string][]byte{"ca.key": []byte(AppKey)}}, false},
		"the gateway":        {pod("gateway", sidecar.ContainerName), true},
		"another Secret":     {&corev1.Secret{ObjectMeta: meta, StringData: map[string]string{"x": "ab" + AppKey}}, true},
		"a ConfigMap":        {&corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"plan.json": AppKey}}, true},
		"an Event":           {&corev1.Event{ObjectMeta: meta, InvolvedObject: corev1.ObjectReference{Namespace: ns}, Message: "said " + AppKey}, true},
		"a policy's status":  {&v1alpha1.RateLimitPolicy{ObjectMeta: metav1.ObjectMeta{Name: "leak", Namespace: ns, Annotations: map[string]string{"x": AppKey}}, Spec: v1alpha1.RateLimitPolicySpec{Providers: []v1alpha1.Provider{{Name: "anthropic"}}}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if err := env.Client.Create(t.Context(), tc.object); err != nil {
				t.Fatal(err)
			}
			text, err := env.Written(t.Context())
			if err != nil || (canary.Any(text) != "") != tc.finds {
				t.Errorf("found %q, %v", canary.Any(text), err)
			}
			if err := env.Client.Delete(t.Context(), tc.object, client.GracePeriodSeconds(0)); err != nil {
				t.Fatal(err)
			}
		})
	}
}
