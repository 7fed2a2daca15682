// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// appPrefix is before the name of an app's NO_PROXY in the gateway, whose own says more.
const appPrefix = "APP_"

// proxyEnvironment repeats the app's proxy settings: the app's calls now leave from the gateway, and
// where there is a proxy there is often no other way out. The coordinator is inside the cluster.
func proxyEnvironment(spec *corev1.PodSpec, p Params) []corev1.EnvVar {
	c := proxied(spec)
	if c == nil {
		return nil
	}
	var env []corev1.EnvVar
	var lists []string
	for _, e := range repeated(c, slices.Concat(proxyVariables, noProxyVariables)) {
		if slices.Contains(noProxyVariables, e.Name) {
			if e.ValueFrom == nil && !strings.Contains(e.Value, "$(") {
				lists = append(lists, e.Value)
				continue
			}
			e.Name = appPrefix + e.Name
			lists = append(lists, "$("+e.Name+")")
		}
		env = append(env, e)
	}
	slices.Sort(lists)
	list := strings.Join(slices.Compact(lists), ",")
	return append(env, corev1.EnvVar{Name: noProxyVariables[0], Value: withHosts(list, coordinatorHost(p))})
}

// proxied is the container whose settings count: one that states a proxy, or else one that may have it from a source.
func proxied(spec *corev1.PodSpec) *corev1.Container {
	i := slices.IndexFunc(spec.Containers, func(c corev1.Container) bool { return usesProxy(&c) })
	if i < 0 {
		i = slices.IndexFunc(spec.Containers, func(c corev1.Container) bool { return mayUseProxy(&c) })
	}
	if i < 0 {
		return nil
	}
	return &spec.Containers[i]
}

// Bounds on what of the app's variables the gateway repeats: a proxy takes a handful. Who needs more of them means something
// else by it, and a pod that carried all of it twice might be too large for the API server.
const (
	maxRepeated      = 128
	maxRepeatedBytes = 16 << 10
)

// repeated is what the container says of variables, and of those that their values are made of, in the order in which
// the kubelet takes it: sources, then env. Nothing of it keeps the gateway from starting. Of too many sources the last ones count, as
// they do for the kubelet; where all of it is too much it is what env says, and nothing if that is.
func repeated(c *corev1.Container, names []string) []corev1.EnvVar {
	names, ok := withReferences(c, names)
	if !ok {
		return nil
	}
	stated := ofEnv(c, names)
	if tooMuch(stated) {
		return nil
	}
	if all := slices.Concat(ofSources(c, names), stated); !tooMuch(all) {
		return all
	}
	return stated
}

// ofSources is what the container has from sources alone.
func ofSources(c *corev1.Container, names []string) (out []corev1.EnvVar) {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return lastEnv(c, name) != nil })
	if len(names) == 0 {
		return nil
	}
	sources := c.EnvFrom[max(0, len(c.EnvFrom)-maxRepeated/len(names)):]
	for _, name := range names {
		out = append(out, fromSources(sources, name)...)
	}
	return out
}

// ofEnv is what its own list says.
func ofEnv(c *corev1.Container, names []string) (out []corev1.EnvVar) {
	for i := range c.Env {
		if e := &c.Env[i]; slices.Contains(names, e.Name) {
			if from, ok := optional(e.ValueFrom); ok {
				out = append(out, corev1.EnvVar{Name: e.Name, Value: e.Value, ValueFrom: from})
			}
		}
	}
	return out
}

func tooMuch(env []corev1.EnvVar) bool {
	size := 0
	for i := range env {
		size += len(env[i].Name) + len(env[i].Value)
	}
	return len(env) > maxRepeated || size > maxRepeatedBytes
}

var reference = regexp.MustCompile(`\$\(([^()]+)\)`)

// withReferences adds the names that values of the variables refer to, and those that these do; false if they are too many.
func withReferences(c *corev1.Container, names []string) (all []string, ok bool) {
	all = slices.Clone(names)
	for n := 0; n < len(all); n++ {
		for i := range c.Env {
			if c.Env[i].Name != all[n] {
				continue
			}
			if len(c.Env[i].Value) > maxRepeatedBytes {
				return nil, false
			}
			for _, m := range reference.FindAllStringSubmatch(c.Env[i].Value, -1) {
				if !slices.Contains(all, m[1]) {
					all = append(all, m[1])
				}
				if len(all) > maxRepeated {
					return nil, false
				}
			}
		}
	}
	return all, true
}

// fromSources takes one variable out of the app's sources. The gateway does not get the rest of them: keys, mostly.
func fromSources(sources []corev1.EnvFromSource, name string) []corev1.EnvVar {
	yes := true
	var out []corev1.EnvVar
	for _, s := range sources {
		key, ok := strings.CutPrefix(name, s.Prefix)
		switch {
		case !ok || key == "" || isManaged(s):
		case s.ConfigMapRef != nil:
			out = append(out, corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
				LocalObjectReference: s.ConfigMapRef.LocalObjectReference, Key: key, Optional: &yes,
			}}})
		case s.SecretRef != nil:
			out = append(out, corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
				LocalObjectReference: s.SecretRef.LocalObjectReference, Key: key, Optional: &yes,
			}}})
		}
	}
	return out
}

// optional is a source that may be missing. A file in a volume is none for the gateway, which starts before whoever writes
// it, and amounts of a container's resources would be its own.
func optional(from *corev1.EnvVarSource) (*corev1.EnvVarSource, bool) {
	if from == nil {
		return nil, true
	}
	yes, out := true, from.DeepCopy()
	switch {
	case out.ConfigMapKeyRef != nil:
		out.ConfigMapKeyRef.Optional = &yes
	case out.SecretKeyRef != nil:
		out.SecretKeyRef.Optional = &yes
	default:
		return out, out.FieldRef != nil
	}
	return out, true
}
