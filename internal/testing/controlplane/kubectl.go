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
func (e *Env) RunKubectl(tb testing.TB, args ...string) string {
	tb.Helper()
	out, err := e.TryKubectl(tb, args...)
	if err != nil {
		tb.Fatalf("kubectl %q: %v\n%s", args, err, out)
	}
	return out
}

// TryKubectl is RunKubectl for commands that may fail.
func (e *Env) TryKubectl(tb testing.TB, args ...string) (string, error) {
	tb.Helper()
	if e.Kubectl == "" {
		tb.Fatal("no kubectl: run make kube-assets")
	}
	cmd := exec.CommandContext(tb.Context(), e.Kubectl, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+e.kubeconfig(tb), "HOME="+tb.TempDir())
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (e *Env) kubeconfig(tb testing.TB) string {
	tb.Helper()
	admin, err := e.server.ControlPlane.AddUser(
		envtest.User{Name: "kubectl", Groups: []string{"system:masters"}}, e.Config)
	if err != nil {
		tb.Fatalf("make a kubectl user: %v", err)
	}
	content, err := admin.KubeConfig()
	if err != nil {
		tb.Fatalf("make a kubeconfig: %v", err)
	}
	path := filepath.Join(tb.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}
