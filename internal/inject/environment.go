// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"net/url"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/internal/sidecar"
)

// environment is the gateway's own. The pod's name, UID and namespace come from the kubelet, because
// the first two are unknown at admission.
func environment(spec *corev1.PodSpec, p Params) []corev1.EnvVar {
	env := []corev1.EnvVar{
		fromField(sidecar.EnvPodName, "metadata.name"),
		fromField(sidecar.EnvPodUID, "metadata.uid"),
		fromField(sidecar.EnvNamespace, "metadata.namespace"),
	}
	if p.CoordinatorCA != "" {
		env = append(env, corev1.EnvVar{Name: sidecar.EnvCoordinatorCA, Value: p.CoordinatorCA})
	}
	return append(env, proxyEnvironment(spec, p)...)
}

func fromField(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path},
	}}
}

func coordinatorHost(p Params) []string {
	if u, err := url.Parse(p.CoordinatorURL); err == nil && u.Hostname() != "" {
		return append(slices.Clone(loopback), u.Hostname())
	}
	return loopback
}
