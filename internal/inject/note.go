// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"

	"github.com/headgate-dev/headgate/internal/sidecar"
)

// maxListed bounds the variables named in an annotation; a pod that has more is told of the first.
const maxListed = 256

const (
	// maxAnnotations bounds the names and values of all of a pod's annotations; the API server refuses more.
	maxAnnotations = validation.TotalAnnotationSizeLimitB
	// annotationRoom is what those need that an injected pod cannot do without.
	annotationRoom = 1 << 10
)

// note writes the outcome into the pod's annotations. A pod that opted out, or that is a kubelet's
// mirror of a file, is left exactly as it is.
func note(pod *corev1.Pod, o Outcome) {
	if o.Reason == SkippedOptOut || o.Reason == SkippedMirrorPod {
		return
	}
	for _, key := range []string{sidecar.AnnotationOutcome, sidecar.AnnotationUnrouted, sidecar.AnnotationRoutingUnknown} {
		delete(pod.Annotations, key)
	}
	annotate(pod, sidecar.AnnotationOutcome, o.Annotation())
	annotate(pod, sidecar.AnnotationUnrouted, list(o.Unrouted))
	annotate(pod, sidecar.AnnotationRoutingUnknown, list(o.Unknown))
}

// annotate sets an annotation if there is something to say and the pod may have it.
func annotate(pod *corev1.Pod, key, value string) {
	if value == "" || annotationSize(pod)+len(key)+len(value) > maxAnnotations {
		return
	}
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[key] = value
}

// annotationSize counts as the API server does.
func annotationSize(pod *corev1.Pod) (n int) {
	for key, value := range pod.Annotations {
		n += len(key) + len(value)
	}
	return n
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
