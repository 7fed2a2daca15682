// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/certs"
	"github.com/headgate-dev/headgate/internal/testing/controlplane"
)

func readManifest(t *testing.T, into any, path ...string) {
	t.Helper()
	root, err := controlplane.RepoRoot()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(append([]string{root, "config"}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(content, into); err != nil {
		t.Fatal(err)
	}
}

// The Deployment's arguments are flags, its ports are what they say, and the Services lead to them.
func TestManifestsAgreeWithFlags(t *testing.T) {
	var d appsv1.Deployment
	readManifest(t, &d, "manager", "deployment.yaml")
	c := d.Spec.Template.Spec.Containers[0]
	var args []string
	for _, a := range c.Args {
		for _, e := range c.Env {
			a = strings.ReplaceAll(a, "$("+e.Name+")", e.Value)
		}
		args = append(args, a)
	}
	o, err := parse(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	ports := map[string]int32{}
	for _, p := range c.Ports {
		ports[p.Name] = p.ContainerPort
	}
	want := map[string]int32{"webhook": int32(o.WebhookPort), "coordinator": 9443, "metrics": 8080, "health": 8081}
	if diff := cmp.Diff(want, ports); diff != "" {
		t.Error(diff)
	}
	if o.coordinatorPort() != "9443" || o.MetricsAddress != ":8080" || o.HealthAddress != ":8081" || o.GatewayImage != "headgate/gateway:dev" {
		t.Errorf("%+v", o)
	}
	for name, file := range map[string]string{
		certs.CoordinatorService: "manager/coordinator_service.yaml", certs.WebhookService: "webhook/service.yaml",
	} {
		var s corev1.Service
		readManifest(t, &s, file)
		if s.Name != name || ports[s.Spec.Ports[0].TargetPort.String()] == 0 {
			t.Errorf("Service %s leads to %v", s.Name, s.Spec.Ports)
		}
		for k, v := range s.Spec.Selector {
			if d.Spec.Template.Labels[k] != v {
				t.Errorf("Service %s selects %s=%s", s.Name, k, v)
			}
		}
	}
}
