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
type baseURL struct {
	dialect.Variable
	value string
}

var baseURLs = builtInRoutes()

func builtInRoutes() []baseURL {
	var all []baseURL
	for _, facts := range dialect.All() {
		for _, v := range facts.BaseURLVariables {
			all = append(all, baseURL{v, "http://" + sidecar.DataAddress + "/" + facts.Route + v.Path})
		}
	}
	return all
}

// EnvData is what the managed ConfigMap of variables holds, for containers with envFrom.
func EnvData() map[string]string {
	data := make(map[string]string, len(baseURLs))
	for _, v := range baseURLs {
		if !v.ReadOnly {
			data[v.Name] = v.value
		}
	}
	return data
}

// route leads every container that starts after the gateway to it. Those before it would dial a port
// where nobody listens yet.
func route(pod *corev1.Pod) Outcome {
	o := Outcome{Reason: Injected}
	byApp := pod.Annotations[sidecar.AnnotationBaseURLs] == sidecar.BaseURLsByApp
	if byApp {
		o.Message = "base URLs are left to the app, as annotation " + sidecar.AnnotationBaseURLs + " asks"
	}
	spec := &pod.Spec
	for i := gatewayIndex(spec) + 1; i < len(spec.InitContainers); i++ {
		routeContainer(&spec.InitContainers[i], byApp, &o)
	}
	for i := range spec.Containers {
		routeContainer(&spec.Containers[i], byApp, &o)
	}
	return o
}

func routeContainer(c *corev1.Container, byApp bool, o *Outcome) {
	managed := !byApp && mayPrependManaged(c)
	for _, v := range baseURLs {
		own := lastEnv(c, v.Name)
		switch {
		case own != nil:
			judge(c, own, o)
		case mayComeFrom(c.EnvFrom, v.Name):
			if managed && !v.ReadOnly {
				prependManaged(c)
			}
			o.Unknown = append(o.Unknown, Variable{c.Name, v.Name})
		case v.ReadOnly || forbidden(c, v):
			// Without it the app calls where it always did, which is for others to judge.
		case byApp:
			o.Unknown = append(o.Unknown, Variable{c.Name, v.Name})
		default:
			c.Env = append(c.Env, corev1.EnvVar{Name: v.Name, Value: v.value})
		}
	}
	excludeLoopback(c, o)
}

// forbidden says whether the container has a variable beside which v would mislead it.
func forbidden(c *corev1.Container, v baseURL) bool {
	return slices.ContainsFunc(v.Unless, func(name string) bool { return lastEnv(c, name) != nil })
}

// mayPrependManaged says whether nothing in our ConfigMap is forbidden to the container: it gets all or nothing.
func mayPrependManaged(c *corev1.Container) bool {
	return !slices.ContainsFunc(baseURLs, func(v baseURL) bool { return forbidden(c, v) && lastEnv(c, v.Name) == nil })
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
