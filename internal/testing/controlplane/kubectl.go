// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// RunKubectl runs kubectl as an administrator and returns what it prints on both outputs; a failure is the test's.
// It fails where there is no kubectl: a test that needs it must not pass without.
func (e *Env) RunKubectl(t testing.TB, args ...string) string {
	t.Helper()
	out, err := e.TryKubectl(t, args...)
	if err != nil {
		t.Fatalf("kubectl %q: %v\n%s", args, err, out)
	}
	return out
}

// TryKubectl is RunKubectl for commands that may fail.
func (e *Env) TryKubectl(t testing.TB, args ...string) (string, error) {
	t.Helper()
	if e.Kubectl == "" {
		t.Fatal("no kubectl: run make kube-assets")
	}
	cmd := exec.CommandContext(t.Context(), e.Kubectl, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+e.kubeconfig(t), "HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (e *Env) kubeconfig(t testing.TB) string {
	t.Helper()
	admin, err := e.server.ControlPlane.AddUser(
		envtest.User{Name: "kubectl", Groups: []string{"system:masters"}}, e.Config)
	if err != nil {
		t.Fatalf("make a kubectl user: %v", err)
	}
	content, err := admin.KubeConfig()
	if err != nil {
		t.Fatalf("make a kubeconfig: %v", err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
