// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// TestTheManagersContainerHasTheLeastRights: no root, nothing to write to, no capability, and no way to more.
func TestTheManagersContainerHasTheLeastRights(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(root, "config", "manager", "deployment.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var d appsv1.Deployment
	if err := yaml.UnmarshalStrict(content, &d); err != nil {
		t.Fatal(err)
	}
	spec := d.Spec.Template.Spec
	p := spec.SecurityContext
	if p == nil || !is(p.RunAsNonRoot) || p.RunAsUser == nil || *p.RunAsUser == 0 || p.RunAsGroup == nil || *p.RunAsGroup == 0 ||
		p.SeccompProfile == nil || p.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("the pod's security context is %+v", p)
	}
	if spec.HostNetwork || spec.HostPID || spec.HostIPC || len(spec.Volumes) != 0 {
		t.Errorf("the pod shares the host's, or has volumes: %+v", spec)
	}
	containers := append(slices.Clone(spec.InitContainers), spec.Containers...)
	if len(containers) == 0 {
		t.Error("it has no container")
	}
	for _, c := range containers {
		s := c.SecurityContext
		if s == nil || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || !is(s.ReadOnlyRootFilesystem) || is(s.Privileged) ||
			s.RunAsUser != nil || s.RunAsNonRoot != nil || s.Capabilities == nil || len(s.Capabilities.Add) != 0 ||
			!slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) {
			t.Errorf("the security context of %s is %+v", c.Name, s)
		}
	}
}

func is(b *bool) bool { return b != nil && *b }

// TestImagesRunAsNobodyInParticular: by a number, since a name could be root's, and in each stage that is an image of ours.
func TestImagesRunAsNobodyInParticular(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	stages := regexp.MustCompile(`(?m)^FROM `).Split(string(content), -1)[1:]
	images := 0
	for _, stage := range stages {
		if !regexp.MustCompile(`(?m)^ENTRYPOINT`).MatchString(stage) {
			continue // it builds
		}
		images++
		users := regexp.MustCompile(`(?m)^USER (.*)$`).FindAllStringSubmatch(stage, -1)
		if len(users) == 0 || !regexp.MustCompile(`^[1-9][0-9]*:[1-9][0-9]*$`).MatchString(users[len(users)-1][1]) {
			t.Errorf("an image runs as %v:\n%s", users, stage)
		}
		if regexp.MustCompile(`(?m)^(RUN|ADD|VOLUME)`).MatchString(stage) {
			t.Errorf("an image holds more than its program:\n%s", stage)
		}
	}
	if images != 2 {
		t.Errorf("%d images", images)
	}
}
