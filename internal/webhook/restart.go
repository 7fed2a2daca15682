// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/inject"
	"github.com/headgate-dev/headgate/internal/sidecar"
	"github.com/headgate-dev/headgate/internal/workload"
)

// maxOwners bounds the workloads a warning names; kubectl prints warnings on one line.
const maxOwners = 5

// firstPolicyWarnings say, when a namespace gets its first policy, which of its pods are older than the
// gateway and how to have them injected. Nothing is said when it cannot be known in time.
func (v *PolicyValidator) firstPolicyWarnings(ctx context.Context, p *v1alpha1.RateLimitPolicy) []string {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	warnings, err := v.missingPods(ctx, namespaceOf(ctx, p), p)
	if err != nil {
		logf.FromContext(ctx).V(1).Info("no advice on restarts", "reason", err.Error())
	}
	return warnings
}

// namespaceOf is the request's, which rules.
func namespaceOf(ctx context.Context, p *v1alpha1.RateLimitPolicy) string {
	if req, err := admission.RequestFromContext(ctx); err == nil {
		return req.Namespace
	}
	return p.Namespace
}

func (v *PolicyValidator) missingPods(ctx context.Context, namespace string, p *v1alpha1.RateLimitPolicy) ([]string, error) {
	var others v1alpha1.RateLimitPolicyList
	if err := v.Reader.List(ctx, &others, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(others.Items, func(o v1alpha1.RateLimitPolicy) bool { return o.Name != p.Name }) {
		return nil, nil
	}
	// Metadata alone, since that is what the manager's cache of namespaces holds.
	ns := &metav1.PartialObjectMetadata{}
	ns.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if err := v.Reader.Get(ctx, types.NamespacedName{Name: namespace}, ns); err != nil {
		return nil, err
	}
	var pods corev1.PodList
	if err := v.Reader.List(ctx, &pods, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	selector, err := selectorOf(p.Spec.PodSelector)
	if err != nil {
		return nil, err
	}
	missing := slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return !isMissing(&pod, selector) })
	return restartWarnings(ns, missing), nil
}

// selectorOf converts a policy's selector; absent matches every pod.
func selectorOf(s *v1alpha1.PodSelector) (labels.Selector, error) {
	if s == nil {
		return labels.Everything(), nil
	}
	out := &metav1.LabelSelector{MatchLabels: s.MatchLabels}
	for _, term := range s.MatchExpressions {
		out.MatchExpressions = append(out.MatchExpressions, metav1.LabelSelectorRequirement{
			Key: term.Key, Operator: metav1.LabelSelectorOperator(term.Operator), Values: term.Values,
		})
	}
	return metav1.LabelSelectorAsSelector(out)
}

// isMissing finds a pod that the policy means, that still runs, and that injection has not seen.
func isMissing(pod *corev1.Pod, selector labels.Selector) bool {
	switch {
	case pod.DeletionTimestamp != nil, pod.Status.Phase == corev1.PodSucceeded, pod.Status.Phase == corev1.PodFailed:
		return false
	case pod.Labels[v1alpha1.LabelInject] == v1alpha1.InjectDisabled:
		return false
	case pod.Spec.HostNetwork && pod.Annotations[sidecar.AnnotationAllowHostNetwork] != "true":
		return false
	}
	return !seen(pod) && selector.Matches(labels.Set(pod.Labels))
}

// seen says whether injection has done with a pod what it does. Annotations alone say no such thing: templates are copied
// from pods.
func seen(pod *corev1.Pod) bool {
	reason, _, _ := strings.Cut(pod.Annotations[sidecar.AnnotationOutcome], ":")
	if reason != "" && reason != string(inject.Injected) {
		return true
	}
	return pod.Annotations[sidecar.AnnotationContract] != "" && slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == sidecar.ContainerName
	})
}

func restartWarnings(ns *metav1.PartialObjectMetadata, missing []corev1.Pod) []string {
	var warnings []string
	asked := func(pod corev1.Pod) bool { return pod.Labels[v1alpha1.LabelInject] == v1alpha1.InjectEnabled }
	if ns.Labels[v1alpha1.LabelInject] != v1alpha1.InjectEnabled && (len(missing) == 0 || !slices.ContainsFunc(missing, asked)) {
		warnings = append(warnings, fmt.Sprintf("no pod of this namespace gets a gateway until: kubectl label namespace %s %s=%s",
			ns.Name, v1alpha1.LabelInject, v1alpha1.InjectEnabled))
	}
	if len(missing) == 0 {
		return warnings
	}
	text := fmt.Sprintf("%s without a gateway, governed only after a restart: ", count(len(missing), "pod runs", "pods run"))
	return append(warnings, text+restartCommand(ns.Name, missing))
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// restartCommand names the workloads of the pods; those of a Job or of nobody must be made anew.
func restartCommand(namespace string, pods []corev1.Pod) string {
	var owners []string
	for i := range pods {
		if owner, job := workload.Of(&pods[i]); owner != "" && !job && !slices.Contains(owners, owner) {
			owners = append(owners, owner)
		}
	}
	if len(owners) == 0 {
		return "delete and create them again"
	}
	slices.Sort(owners)
	more := ""
	if len(owners) > maxOwners {
		more = fmt.Sprintf(" (and %d more)", len(owners)-maxOwners)
		owners = owners[:maxOwners]
	}
	return "kubectl -n " + namespace + " rollout restart " + strings.Join(owners, " ") + more
}
