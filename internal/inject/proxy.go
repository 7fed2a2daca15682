// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// loopback is what a proxied app must reach directly.
var loopback = []string{"127.0.0.1", "localhost", "::1"}

var (
	proxyVariables   = []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"}
	noProxyVariables = []string{"NO_PROXY", "no_proxy"}
)

func usesProxy(c *corev1.Container) bool {
	return slices.ContainsFunc(proxyVariables, func(name string) bool { return lastEnv(c, name) != nil })
}

// mayUseProxy says whether a source of the container's could set a proxy.
func mayUseProxy(c *corev1.Container) bool {
	return slices.ContainsFunc(proxyVariables, func(name string) bool { return mayComeFrom(c.EnvFrom, name) })
}

// excludeLoopback makes a container that sends its traffic through a proxy, or may do so, reach the gateway directly.
// Clients differ in which case of NO_PROXY they read and some let one hide the other, so both are set,
// and a missing one repeats what the other says.
func excludeLoopback(c *corev1.Container, o *Outcome) {
	if !usesProxy(c) && !mayUseProxy(c) {
		return
	}
	var known string
	opaque := false
	for _, name := range noProxyVariables {
		switch own := lastEnv(c, name); {
		case own == nil:
		case own.ValueFrom != nil:
			opaque = true
		case known == "":
			known = own.Value
		}
	}
	for i, name := range noProxyVariables {
		setNoProxy(c, name, noProxyVariables[1-i], known, opaque, o)
	}
}

// setNoProxy extends one of the two. Where a source may say something, what is added refers to it, since the kubelet takes
// sources first. A value of the container's own that cannot be read here is left alone.
func setNoProxy(c *corev1.Container, name, other, said string, opaque bool, o *Outcome) {
	own := lastEnv(c, name)
	switch {
	case own != nil && own.ValueFrom == nil:
		own.Value = withHosts(own.Value, loopback)
	case own != nil, opaque:
		o.Unknown = append(o.Unknown, Variable{c.Name, name})
	case mayComeFrom(c.EnvFrom, name):
		c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: withHosts("$("+name+"),$("+other+")", loopback)})
	default:
		c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: withHosts(said, loopback)})
	}
}

// withHosts appends what the list lacks; "*" excludes everything already.
func withHosts(list string, hosts []string) string {
	entries := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
	if slices.Contains(entries, "*") {
		return list
	}
	missing := slices.DeleteFunc(slices.Clone(hosts), func(h string) bool { return slices.Contains(entries, h) })
	if len(missing) == 0 {
		return list
	}
	if list = strings.TrimRight(list, ", "); list != "" {
		list += ","
	}
	return list + strings.Join(missing, ",")
}
