// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// osLabels are those of nodes, the older one included, which manifests still have.
var osLabels = []string{corev1.LabelOSStable, "beta.kubernetes.io/os"}

// forWindows says whether the pod can run on Windows alone, by any of the ways to say so.
func forWindows(spec *corev1.PodSpec) bool {
	if spec.OS != nil && spec.OS.Name == corev1.Windows {
		return true
	}
	for _, label := range osLabels {
		if spec.NodeSelector[label] == string(corev1.Windows) {
			return true
		}
	}
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil || spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	terms := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	return len(terms) > 0 && !slices.ContainsFunc(terms, func(t corev1.NodeSelectorTerm) bool { return !demandsWindows(t) })
}

// demandsWindows says so of a term: all of its expressions hold for a node it selects.
func demandsWindows(term corev1.NodeSelectorTerm) bool {
	return slices.ContainsFunc(term.MatchExpressions, func(r corev1.NodeSelectorRequirement) bool {
		switch {
		case !slices.Contains(osLabels, r.Key):
			return false
		case r.Operator == corev1.NodeSelectorOpNotIn:
			return slices.Contains(r.Values, string(corev1.Linux))
		}
		return r.Operator == corev1.NodeSelectorOpIn && len(r.Values) > 0 &&
			!slices.ContainsFunc(r.Values, func(v string) bool { return v != string(corev1.Windows) })
	})
}
