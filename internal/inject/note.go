// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/internal/sidecar"
)

// maxListed bounds the variables named in an annotation; a pod that has more is told of the first.
const maxListed = 256

// note writes the outcome into the pod's annotations. A pod that opted out, or that is a kubelet's
// mirror of a file, is left exactly as it is.
func note(pod *corev1.Pod, o Outcome) {
	if o.Reason == SkippedOptOut || o.Reason == SkippedMirrorPod {
		return
	}
	annotate(pod, sidecar.AnnotationOutcome, o.Annotation())
	annotate(pod, sidecar.AnnotationUnrouted, list(o.Unrouted))
	annotate(pod, sidecar.AnnotationRoutingUnknown, list(o.Unknown))
}

// annotate sets an annotation; an empty value removes it.
func annotate(pod *corev1.Pod, key, value string) {
	if value == "" {
		delete(pod.Annotations, key)
		return
	}
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[key] = value
}

func list(variables []Variable) string {
	if len(variables) > maxListed {
		variables = variables[:maxListed]
	}
	pairs := make([]string, len(variables))
	for i, v := range variables {
		pairs[i] = v.Container + "=" + v.Name
	}
	return strings.Join(pairs, ",")
}
