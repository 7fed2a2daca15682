// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/testing/controlplane"
)

// finalize does for namespaces what the cluster's own controller does, which this control plane lacks.
func finalize(ctx context.Context, c client.Client) {
	for ctx.Err() == nil {
		var list corev1.NamespaceList
		if err := c.List(ctx, &list); err == nil {
			for i := range list.Items {
				if ns := &list.Items[i]; !ns.DeletionTimestamp.IsZero() {
					ns.Spec.Finalizers = nil
					_ = c.SubResource("finalize").Update(ctx, ns)
				}
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// TestE8UndeployingIsNotHeldUp: with policies in force, webhooks that nobody answers, and no manager.
func TestE8UndeployingIsNotHeldUp(t *testing.T) {
	t.Parallel()
	env := controlplane.Start(t, controlplane.Options{})
	env.RunKubectl(t, "apply", "--server-side", "--force-conflicts", "-k", filepath.Join(env.Root, "config", "crd"))
	ns := env.Namespace(t, nil)
	applyYAML(t, env, fmt.Sprintf(policyYAML, ns, "400k"))
	env.RunKubectl(t, "apply", "--server-side", "--force-conflicts", "-k", filepath.Join(env.Root, "config", "default"))

	script, err := os.ReadFile(filepath.Join(env.Root, "hack", "undeploy"))
	webhooks, all := strings.Index(string(script), "config/webhook"), strings.Index(string(script), "config/default")
	if err != nil || webhooks < 0 || all < webhooks {
		t.Errorf("hack/undeploy does not remove the webhooks first: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go finalize(ctx, env.Client)
	began := time.Now()
	undeploy := exec.CommandContext(t.Context(), filepath.Join(env.Root, "hack", "undeploy"))
	undeploy.Env = append(os.Environ(), "KUBECTL="+env.Kubectl, "KUBECONFIG="+kubeconfigFile(t, env.User(t, "admin", "system:masters")))
	if said, err := undeploy.CombinedOutput(); err != nil {
		t.Fatalf("undeploy: %v\n%s", err, said)
	}
	if took := time.Since(began); took > patience {
		t.Errorf("undeploying took %s", took)
	}
	for _, kind := range []string{"crd", "mutatingwebhookconfiguration", "validatingwebhookconfiguration", "validatingadmissionpolicy"} {
		if left := env.RunKubectl(t, "get", kind, "-o", "name"); strings.Contains(left, "headgate") {
			t.Errorf("left are %s", left)
		}
	}
	if err := env.Client.List(t.Context(), &v1alpha1.RateLimitPolicyList{}); err == nil {
		t.Error("policies are served still")
	}
	env.RunKubectl(t, "delete", "namespace", ns, "--timeout=5m")
}
