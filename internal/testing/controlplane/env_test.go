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
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/api/v1alpha1"
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
