// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/sidecar"
)

// baseURL is a variable an SDK reads, with the value that leads to the gateway's built-in route.
type baseURL struct{ name, value string }

var baseURLs = builtInRoutes()

func builtInRoutes() []baseURL {
	var all []baseURL
	for _, facts := range dialect.All() {
		for _, v := range facts.BaseURLVariables {
			all = append(all, baseURL{v.Name, "http://" + sidecar.DataAddress + "/" + facts.Route + v.Path})
		}
	}
	return all
}

// EnvData is what the managed ConfigMap headgate-env holds: the variables of containers with envFrom.
func EnvData() map[string]string {
	data := make(map[string]string, len(baseURLs))
	for _, v := range baseURLs {
		data[v.name] = v.value
	}
	return data
}

// route leads every container that starts after the gateway to it. Those before it would dial a port
// where nobody listens yet.
func route(spec *corev1.PodSpec) Outcome {
	o := Outcome{Reason: Injected}
	for i := gatewayIndex(spec) + 1; i < len(spec.InitContainers); i++ {
		routeContainer(&spec.InitContainers[i], &o)
	}
	for i := range spec.Containers {
		routeContainer(&spec.Containers[i], &o)
	}
	return o
}

func routeContainer(c *corev1.Container, o *Outcome) {
	for _, v := range baseURLs {
		switch own := lastEnv(c, v.name); {
		case own != nil:
			judge(c, own, o)
		case mayComeFrom(c.EnvFrom, v.name):
			prependManaged(c)
			o.Unknown = append(o.Unknown, Variable{c.Name, v.name})
		default:
			c.Env = append(c.Env, corev1.EnvVar{Name: v.name, Value: v.value})
		}
	}
	excludeLoopback(c, o)
}

// judge says whether the container's own value leads to the gateway.
func judge(c *corev1.Container, own *corev1.EnvVar, o *Outcome) {
	v := Variable{c.Name, own.Name}
	switch {
	case own.ValueFrom == nil && strings.Contains(own.Value, "$("):
		o.Unknown = append(o.Unknown, v)
	case own.ValueFrom != nil || !leadsToGateway(own.Value):
		o.Unrouted = append(o.Unrouted, v)
	}
}

func leadsToGateway(value string) bool {
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "http" || u.Port() != strconv.Itoa(sidecar.DataPort) {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || (ip != nil && ip.IsLoopback())
}

// lastEnv finds the entry that counts: of two of the same name Kubernetes takes the later.
func lastEnv(c *corev1.Container, name string) *corev1.EnvVar {
	for i := len(c.Env) - 1; i >= 0; i-- {
		if c.Env[i].Name == name {
			return &c.Env[i]
		}
	}
	return nil
}

// mayComeFrom says whether a source of the app's could set the variable. One with a prefix only sets
// names that start with it.
func mayComeFrom(sources []corev1.EnvFromSource, name string) bool {
	return slices.ContainsFunc(sources, func(s corev1.EnvFromSource) bool {
		return !isManaged(s) && strings.HasPrefix(name, s.Prefix)
	})
}

// prependManaged puts our ConfigMap before the app's own sources: of two that set a variable Kubernetes
// takes the later, so theirs wins.
func prependManaged(c *corev1.Container) {
	if slices.ContainsFunc(c.EnvFrom, isManaged) {
		return
	}
	optional := true
	c.EnvFrom = append([]corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: sidecar.EnvConfigMap}, Optional: &optional,
	}}}, c.EnvFrom...)
}

func isManaged(s corev1.EnvFromSource) bool {
	return s.ConfigMapRef != nil && s.ConfigMapRef.Name == sidecar.EnvConfigMap && s.Prefix == ""
}
