// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"net/url"
	"slices"
	"strings"

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

// proxyEnvironment repeats the app's proxy settings: the app's calls now leave from the gateway, and
// where there is a proxy there is often no other way out. The coordinator is inside the cluster.
func proxyEnvironment(spec *corev1.PodSpec, p Params) []corev1.EnvVar {
	i := slices.IndexFunc(spec.Containers, func(c corev1.Container) bool { return usesProxy(&c) })
	if i < 0 {
		return nil
	}
	var env []corev1.EnvVar
	for _, name := range append(slices.Clone(proxyVariables), noProxyVariables...) {
		// An expansion may name what the gateway does not have.
		own := lastEnv(&spec.Containers[i], name)
		if own == nil || strings.Contains(own.Value, "$(") {
			continue
		}
		copied := *own.DeepCopy()
		if slices.Contains(noProxyVariables, name) && own.ValueFrom == nil {
			copied.Value = withHosts(own.Value, coordinatorHost(p))
		}
		env = append(env, copied)
	}
	if lastEnv(&spec.Containers[i], noProxyVariables[0]) == nil && lastEnv(&spec.Containers[i], noProxyVariables[1]) == nil {
		env = append(env, corev1.EnvVar{Name: noProxyVariables[0], Value: withHosts("", coordinatorHost(p))})
	}
	return env
}

func coordinatorHost(p Params) []string {
	if u, err := url.Parse(p.CoordinatorURL); err == nil && u.Hostname() != "" {
		return append(slices.Clone(loopback), u.Hostname())
	}
	return loopback
}
