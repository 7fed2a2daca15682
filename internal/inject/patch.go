// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"reflect"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/internal/sidecar"
)

// Operation is one edit of a JSON patch (RFC 6902).
type Operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// Diff describes what Inject did to a pod as edits of the API server's own JSON. A generic comparison
// of two decoded pods would move containers field by field, and leave behind, in the wrong container,
// every field that this version does not know. Edits come in an order in which the positions of the
// original hold until the gateway's container is inserted last.
func Diff(before, after *corev1.Pod) []Operation {
	var ops []Operation
	ops = append(ops, diffAnnotations(before.Annotations, after.Annotations)...)
	ops = append(ops, diffPodResources(before.Spec.Resources, after.Spec.Resources)...)
	ops = append(ops, appended("/spec/volumes", before.Spec.Volumes, after.Spec.Volumes)...)
	ops = append(ops, diffContainers("/spec/containers", before.Spec.Containers, after.Spec.Containers)...)
	return append(ops, diffInit(before.Spec.InitContainers, after.Spec.InitContainers)...)
}

func diffInit(before, after []corev1.Container) []Operation {
	if len(after) == len(before) {
		return diffContainers("/spec/initContainers", before, after)
	}
	gateway := after[0]
	if len(before) == 0 {
		return []Operation{{Op: "add", Path: "/spec/initContainers", Value: []corev1.Container{gateway}}}
	}
	ops := diffContainers("/spec/initContainers", before, after[1:])
	return append(ops, Operation{Op: "add", Path: "/spec/initContainers/0", Value: gateway})
}

func diffContainers(path string, before, after []corev1.Container) []Operation {
	var ops []Operation
	for i := range before {
		if before[i].Name == sidecar.ContainerName {
			continue // never changed once it is there
		}
		at := path + "/" + strconv.Itoa(i)
		ops = append(ops, diffEnv(at+"/env", before[i].Env, after[i].Env)...)
		ops = append(ops, diffEnvFrom(at+"/envFrom", before[i].EnvFrom, after[i].EnvFrom)...)
	}
	return ops
}

// diffEnv is about a list whose entries keep their places; values may change and entries may follow.
func diffEnv(path string, before, after []corev1.EnvVar) []Operation {
	var ops []Operation
	for i := range before {
		if before[i].Value != after[i].Value {
			// add replaces as well, and does not mind an empty value having been left out.
			ops = append(ops, Operation{Op: "add", Path: path + "/" + strconv.Itoa(i) + "/value", Value: after[i].Value})
		}
	}
	return append(ops, appended(path, before, after)...)
}

// diffEnvFrom is about a list that may gain a first entry.
func diffEnvFrom(path string, before, after []corev1.EnvFromSource) []Operation {
	if len(after) == len(before) {
		return nil
	}
	return []Operation{{Op: "add", Path: path + "/0", Value: after[0]}}
}

// appended is about a list that may gain entries at its end.
func appended[T any](path string, before, after []T) []Operation {
	if len(after) == len(before) {
		return nil
	}
	if len(before) == 0 {
		return []Operation{{Op: "add", Path: path, Value: after}}
	}
	var ops []Operation
	for _, entry := range after[len(before):] {
		ops = append(ops, Operation{Op: "add", Path: path + "/-", Value: entry})
	}
	return ops
}

// annotationKeys in the order in which a patch names them.
var annotationKeys = []string{
	sidecar.AnnotationContract, sidecar.AnnotationOutcome, sidecar.AnnotationUnrouted, sidecar.AnnotationRoutingUnknown,
}

func diffAnnotations(before, after map[string]string) []Operation {
	if len(before) == 0 && len(after) > 0 {
		return []Operation{{Op: "add", Path: "/metadata/annotations", Value: after}}
	}
	var ops []Operation
	for _, key := range annotationKeys {
		path := "/metadata/annotations/" + escaped(key)
		was, had := before[key]
		is, has := after[key]
		switch {
		case has && (!had || was != is):
			ops = append(ops, Operation{Op: "add", Path: path, Value: is})
		case had && !has:
			ops = append(ops, Operation{Op: "remove", Path: path})
		}
	}
	return ops
}

// diffPodResources writes amounts one by one: a kind of resource this version does not know stays.
func diffPodResources(before, after *corev1.ResourceRequirements) []Operation {
	if before == nil || reflect.DeepEqual(before, after) {
		return nil
	}
	ops := diffAmounts("/spec/resources/requests/", before.Requests, after.Requests)
	return append(ops, diffAmounts("/spec/resources/limits/", before.Limits, after.Limits)...)
}

func diffAmounts(path string, before, after corev1.ResourceList) []Operation {
	var ops []Operation
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		was, is := before[name], after[name]
		if was.Cmp(is) != 0 {
			ops = append(ops, Operation{Op: "replace", Path: path + escaped(string(name)), Value: is.String()})
		}
	}
	return ops
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func escaped(token string) string { return pointerEscapes.Replace(token) }
