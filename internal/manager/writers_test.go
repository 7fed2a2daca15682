// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/testing/controlplane"
)

// audited is a request as the API server's own log tells of it.
type audited struct {
	Verb, UserAgent string
	ObjectRef       struct{ Resource, Subresource, Namespace, Name string }
	ResponseStatus  struct{ Code int }
}

func (a audited) String() string {
	return fmt.Sprintf("%s %s/%s %s/%s: %d", a.Verb, a.ObjectRef.Resource, a.ObjectRef.Subresource, a.ObjectRef.Namespace, a.ObjectRef.Name, a.ResponseStatus.Code)
}

// writes says whether the request is to change what is stored: reviews are questions.
func (a audited) writes() bool {
	switch a.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return !strings.HasSuffix(a.ObjectRef.Resource, "reviews")
	}
	return false
}

// audit has the API server log every request, and returns what reads the log.
func audit(t *testing.T) (controlplane.Options, func() []audited) {
	t.Helper()
	dir := t.TempDir()
	rules, log := filepath.Join(dir, "rules.yaml"), filepath.Join(dir, "audit.log")
	const text = "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n"
	if err := os.WriteFile(rules, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func() (all []audited) {
		file, err := os.Open(log)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var a audited
			if json.Unmarshal(lines.Bytes(), &a) == nil { // the last may be half written
				all = append(all, a)
			}
		}
		return all
	}
	return controlplane.Options{APIServerFlags: map[string]string{"audit-policy-file": rules, "audit-log-path": log}}, read
}

// named starts a replica whose program has a name of its own, which the API server's log shows.
func named(t *testing.T, binary, name, kubeconfig string) *replica {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.Link(binary, path); err != nil {
		t.Fatal(err)
	}
	return startReplica(t, path, kubeconfig)
}

// TestE4OnlyTheLeaderWrites: two replicas, somebody who edits, and a GitOps controller that applies, all at once, while
// pods come. By the API server's own log the follower writes nothing but its bid for the lease, nobody but people writes a
// spec, and a conflict is the exception.
func TestE4OnlyTheLeaderWrites(t *testing.T) {
	t.Parallel()
	options, read := audit(t)
	env := controlPlaneOf(t, options)
	env.RunKubectl(t, "apply", "--server-side", "--force-conflicts", "-k", filepath.Join(env.Root, "config", "default"))
	env.RunKubectl(t, "delete", "validatingwebhookconfiguration,mutatingwebhookconfiguration", "--all")
	binary, kubeconfig := buildManager(t, env), serviceAccountFile(t, env)
	leads := named(t, binary, "first", kubeconfig)
	eventually(t, func() string {
		if getLease(t, env).Annotations[AnnotationAddress] == leads.coordinator {
			return ""
		}
		return "nobody leads"
	})
	follows := named(t, binary, "second", kubeconfig)
	eventually(t, follows.ready)
	ns := env.Namespace(t, nil)
	applyYAML(t, env, fmt.Sprintf(policyYAML, ns, "1000"))

	const edits = 40
	gitOps := make(chan int)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { gitOps <- applyAll(ctx, t, env, ns) }()
	for i := 1; i <= edits; i++ {
		patch := fmt.Appendf(nil, `[{"op":"replace","path":"/spec/providers/0/limits/0/amount","value":"%d"}]`, 1000+i)
		if err := env.Client.Patch(t.Context(), policyIn(ns), client.RawPatch(types.JSONPatchType, patch)); err != nil {
			t.Fatal(err)
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("web-%d", i), Namespace: ns}}
		pod.Spec.Containers = []corev1.Container{{Name: "app", Image: "app"}}
		if err := env.Client.Create(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond) // the pace of the storm; nothing is waited for
	}
	cancel()
	applied := <-gitOps

	eventually(t, func() string {
		p := policyIn(ns)
		if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
			t.Fatal(err)
		}
		if p.Generation != edits+1 || p.Status.ObservedGeneration != p.Generation || p.Status.Gateways.Matching != edits {
			return fmt.Sprintf("generation %d, observed %d, %d pods", p.Generation, p.Status.ObservedGeneration, p.Status.Gateways.Matching)
		}
		if got := p.Spec.Providers[0].Limits[0].Amount.Value(); got != 1000+edits {
			t.Fatalf("the last edit was lost: %d", got)
		}
		return ""
	})
	statuses, conflicts := 0, 0
	for _, a := range read() {
		ours := strings.HasPrefix(a.UserAgent, "first/")
		switch {
		case strings.HasPrefix(a.UserAgent, "second/") && a.writes() && a.ObjectRef.Resource != "leases":
			t.Errorf("the follower: %v", a)
		case ours && a.writes() && a.ObjectRef.Resource == "ratelimitpolicies" && a.ObjectRef.Subresource != "status":
			t.Errorf("the leader writes a spec: %v", a)
		case ours && a.writes() && a.ObjectRef.Resource == "pods":
			t.Errorf("the leader changes a pod: %v", a)
		}
		if ours && a.ObjectRef.Resource == "ratelimitpolicies" && a.ObjectRef.Subresource == "status" {
			statuses++
			if a.ResponseStatus.Code >= 400 {
				conflicts++
			}
		}
	}
	t.Logf("%d writes of status, %d conflicts, among %d edits and %d applies", statuses, conflicts, edits, applied)
	// What is applied all the time are labels, which stand in no status's way; an edit of the spec does at most once, and
	// whoever meets it waits for the next reconcile.
	if statuses == 0 || conflicts > edits {
		t.Errorf("%d of %d writes of status met a conflict", conflicts, statuses)
	}
}

// policyIn is the policy that applyYAML makes.
func policyIn(namespace string) *v1alpha1.RateLimitPolicy {
	return &v1alpha1.RateLimitPolicy{ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: namespace}}
}

// applyAll applies what a repository says of the policy, whose labels change all the time, until ctx ends, and returns how
// often.
func applyAll(ctx context.Context, t *testing.T, env *controlplane.Env, namespace string) (n int) {
	t.Helper()
	for ; ctx.Err() == nil; n++ {
		manifest := fmt.Appendf(nil, `{"apiVersion":"headgate.dev/v1alpha1","kind":"RateLimitPolicy","metadata":{"name":"default","namespace":%q,"labels":{"revision":"%d"}}}`, namespace, n)
		err := env.Client.Patch(ctx, policyIn(namespace), client.RawPatch(types.ApplyPatchType, manifest), client.FieldOwner("gitops"), client.ForceOwnership)
		if err != nil && ctx.Err() == nil {
			t.Errorf("apply: %v", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(30 * time.Millisecond):
		}
	}
	return n
}
