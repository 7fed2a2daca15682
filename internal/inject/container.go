// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/internal/sidecar"
)

// userID is the user of the gateway's image. It is stated, since a pod-level runAsUser of 0 together
// with runAsNonRoot would never start.
const userID int64 = 65532

// container is the gateway's. It has no liveness or readiness probe: a provider's trouble must not
// restart it or take the app out of its Service.
func container(spec *corev1.PodSpec, p Params, resources corev1.ResourceRequirements) corev1.Container {
	always := corev1.ContainerRestartPolicyAlways
	return corev1.Container{
		Name:            sidecar.ContainerName,
		Image:           p.Image,
		ImagePullPolicy: p.PullPolicy,
		Command:         []string{sidecar.Binary},
		Args:            arguments(p),
		Env:             environment(spec, p),
		Ports: []corev1.ContainerPort{
			{Name: sidecar.AdminPortName, ContainerPort: sidecar.AdminPort, Protocol: corev1.ProtocolTCP},
		},
		Resources:       resources,
		RestartPolicy:   &always,
		StartupProbe:    startupProbe(),
		SecurityContext: securityContext(p.OpenShift),
		VolumeMounts:    mounts(),
	}
}

func arguments(p Params) []string {
	args := []string{
		argument(sidecar.FlagPlan, sidecar.DirPlan),
		argument(sidecar.FlagCredentials, sidecar.DirCredentials),
		argument(sidecar.FlagState, sidecar.DirState),
		argument(sidecar.FlagLabels, sidecar.FileLabels),
		argument(sidecar.FlagToken, sidecar.FileToken),
		argument(sidecar.FlagListen, sidecar.DataAddress),
		argument(sidecar.FlagAdmin, sidecar.AdminAddress),
		// The kubelet expands it, so it is right however the pod came to be.
		argument(sidecar.FlagNamespace, "$("+sidecar.EnvNamespace+")"),
	}
	if p.CoordinatorURL != "" {
		args = append(args, argument(sidecar.FlagCoordinator, p.CoordinatorURL))
	}
	if p.DeferredStore != "" {
		// The password is a tenant's, and comes from its Secret, never through the pod's specification.
		args = append(args, argument(sidecar.FlagDeferredStore, p.DeferredStore),
			argument(sidecar.FlagDeferredPassword, sidecar.FileDeferredPassword))
	}
	return args
}

func argument(name, value string) string { return "--" + name + "=" + value }

// startupProbe executes the binary: a mesh rewrites http probes, and a loopback port answers no kubelet.
func startupProbe() *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{
			Command: []string{sidecar.Binary, sidecar.SubcommandProbe},
		}},
		PeriodSeconds:    1,
		TimeoutSeconds:   5,
		FailureThreshold: 60,
	}
}

// securityContext passes the pod security standard "restricted" whatever the pod itself says.
func securityContext(openShift bool) *corev1.SecurityContext {
	yes, no, user := true, false, userID
	sc := &corev1.SecurityContext{
		AllowPrivilegeEscalation: &no,
		Privileged:               &no,
		ReadOnlyRootFilesystem:   &yes,
		RunAsNonRoot:             &yes,
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile:           &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	if !openShift {
		sc.RunAsUser, sc.RunAsGroup = &user, &user
	}
	return sc
}
