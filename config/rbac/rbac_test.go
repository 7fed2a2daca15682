// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package rbac

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/testing/controlplane"
)

var update = flag.Bool("update", false, "write testdata/*.txt")

const ownNamespace = "headgate-system"

// TestE12Rights asks a real API server what each identity may do, as kubectl auth can-i --list does, and
// compares the answers with golden files.
//
// Fault E12: Operators had rights to every Secret, and sidecars could report for others.
// Headgate: The rights are a golden file without wildcards, Secrets are reached by name in our own namespace only, and
// a gateway is the pod that its token is bound to, whatever it says.
func TestE12Rights(t *testing.T) {
	env := controlplane.Start(t, controlplane.Options{})
	for _, name := range []string{ownNamespace, "team-a"} {
		if err := env.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range manifests(t) {
		if err := env.Client.Create(t.Context(), o); err != nil {
			t.Fatalf("%T: %v", o, err)
		}
	}
	bind(t, env.Client, "editor", "headgate-policy-editor")
	bind(t, env.Client, "viewer", "headgate-policy-viewer")
	bindEverywhere(t, env.Client, "platform", "headgate-account-editor")
	bindEverywhere(t, env.Client, "auditor", "headgate-account-viewer")
	awaitRoles(t, env)
	for name, tc := range map[string]struct{ user, namespace string }{
		"manager-in-a-tenants-namespace": {serviceAccount(ownNamespace, "headgate-manager"), "team-a"},
		"manager-in-its-own-namespace":   {serviceAccount(ownNamespace, "headgate-manager"), ownNamespace},
		"gateway-in-its-namespace":       {serviceAccount("team-a", "default"), "team-a"},
		"policy-editor-in-the-namespace": {"editor", "team-a"},
		"policy-viewer-in-the-namespace": {"viewer", "team-a"},
		"account-editor":                 {"platform", "team-a"},
		"account-viewer":                 {"auditor", "team-a"},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := rights(t, env, tc.user, tc.namespace)
			if err != nil {
				t.Fatal(err)
			}
			compareGolden(t, "testdata/"+name+".txt", []byte(text))
		})
	}
}

// awaitRoles waits until the API server knows all roles and bindings: of each kind it learns of them in their order, a moment
// after they are written, and so it knows of all when it knows of the last of each kind.
func awaitRoles(t *testing.T, env *controlplane.Env) {
	t.Helper()
	in, all := metav1.ObjectMeta{Namespace: "team-a", Name: "last"}, metav1.ObjectMeta{Name: "last"}
	rules := func(resource string) []rbacv1.PolicyRule {
		return []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{resource}, Verbs: []string{"get"}}}
	}
	for _, o := range []client.Object{
		&rbacv1.Role{ObjectMeta: in, Rules: rules("here")},
		&rbacv1.RoleBinding{ObjectMeta: in, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "last"}, Subjects: subject("last")},
		&rbacv1.ClusterRole{ObjectMeta: all, Rules: rules("everywhere")},
	} {
		if err := env.Client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	bindEverywhere(t, env.Client, "last", "last")
	var text string
	var err error
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		text, err = rights(t, env, "last", "team-a")
		if strings.Contains(text, "here: get\n") && strings.Contains(text, "everywhere: get\n") {
			return
		}
	}
	t.Fatalf("the last role gives no rights: %v, %s", err, text)
}

// rights are what a user may do in a namespace.
func rights(t *testing.T, env *controlplane.Env, user, namespace string) (string, error) {
	t.Helper()
	c, err := client.New(env.User(t, user, "system:authenticated"), client.Options{Scheme: env.Scheme})
	if err != nil {
		return "", err
	}
	review := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}}
	err = c.Create(t.Context(), review)
	return flatten(review.Status.ResourceRules), err
}

// flatten writes one line for each resource, with its verbs, sorted.
func flatten(rules []authorizationv1.ResourceRule) string {
	verbs := map[string][]string{}
	for _, r := range rules {
		for _, group := range r.APIGroups {
			for _, resource := range r.Resources {
				names := r.ResourceNames
				if len(names) == 0 {
					names = []string{""}
				}
				for _, name := range names {
					key := resource
					if group != "" {
						key += "." + group
					}
					if name != "" {
						key += "/" + name
					}
					verbs[key] = append(verbs[key], r.Verbs...)
				}
			}
		}
	}
	var lines []string
	for key, v := range verbs {
		slices.Sort(v)
		lines = append(lines, fmt.Sprintf("%s: %s\n", key, strings.Join(slices.Compact(v), " ")))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// TestE12NoBroadRights holds for every rule that is shipped, whatever the golden files say.
func TestE12NoBroadRights(t *testing.T) {
	for _, o := range manifests(t) {
		switch role := o.(type) {
		case *rbacv1.ClusterRole:
			for _, r := range role.Rules {
				checkRule(t, role.Name, r, true)
			}
			if role.AggregationRule != nil || role.Labels["rbac.authorization.k8s.io/aggregate-to-edit"]+role.Labels["rbac.authorization.k8s.io/aggregate-to-admin"] != "" {
				t.Errorf("%s is aggregated beyond view", role.Name)
			}
		case *rbacv1.Role:
			if role.Namespace != ownNamespace {
				t.Errorf("a Role in %s", role.Namespace)
			}
			for _, r := range role.Rules {
				checkRule(t, role.Name, r, false)
			}
		}
	}
}

func checkRule(t *testing.T, role string, r rbacv1.PolicyRule, clusterWide bool) {
	t.Helper()
	for _, s := range slices.Concat(r.APIGroups, r.Resources, r.ResourceNames, r.Verbs, r.NonResourceURLs) {
		if strings.Contains(s, "*") {
			t.Errorf("%s has a wildcard: %v", role, r)
		}
	}
	for _, verb := range []string{"escalate", "bind", "impersonate", "approve", "sign"} {
		if slices.Contains(r.Verbs, verb) {
			t.Errorf("%s may %s: %v", role, verb, r)
		}
	}
	if !slices.Contains(r.Resources, "secrets") {
		return
	}
	for _, verb := range r.Verbs {
		named := len(r.ResourceNames) > 0
		if clusterWide || verb == "list" || verb == "watch" || (!named && verb != "create") {
			t.Errorf("%s may %s Secrets: %v", role, verb, r)
		}
	}
}

func serviceAccount(namespace, name string) string {
	return "system:serviceaccount:" + namespace + ":" + name
}

func subject(user string) []rbacv1.Subject {
	return []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}}
}

func bind(t *testing.T, c client.Client, user, role string) {
	t.Helper()
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   subject(user),
	}
	if err := c.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
}

func bindEverywhere(t *testing.T, c client.Client, user, role string) {
	t.Helper()
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   subject(user),
	}
	if err := c.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
}

// manifests are this folder's objects.
func manifests(t *testing.T) []client.Object {
	t.Helper()
	kinds := map[string]func() client.Object{
		"ServiceAccount":     func() client.Object { return &corev1.ServiceAccount{} },
		"ClusterRole":        func() client.Object { return &rbacv1.ClusterRole{} },
		"ClusterRoleBinding": func() client.Object { return &rbacv1.ClusterRoleBinding{} },
		"Role":               func() client.Object { return &rbacv1.Role{} },
		"RoleBinding":        func() client.Object { return &rbacv1.RoleBinding{} },
	}
	files, err := filepath.Glob("*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var out []client.Object
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range bytes.Split(data, []byte("\n---\n")) {
			var meta metav1.TypeMeta
			if err := yaml.Unmarshal(doc, &meta); err != nil {
				t.Fatal(err)
			}
			if meta.Kind == "Kustomization" {
				continue
			}
			o := kinds[meta.Kind]
			if o == nil {
				t.Fatalf("%s: unexpected kind %q", file, meta.Kind)
			}
			object := o()
			if err := yaml.UnmarshalStrict(doc, object); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			out = append(out, object)
		}
	}
	if len(out) < 7 {
		t.Fatalf("only %d manifests", len(out))
	}
	return out
}

func compareGolden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("rights differ from %s (-want +got):\n%s", path, diff)
	}
}
