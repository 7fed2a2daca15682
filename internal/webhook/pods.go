// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/headgate-dev/headgate/internal/inject"
)

// outcomeFailed is the metric label of a request that could not be worked on.
const outcomeFailed = "Failed"

// PodInjector answers requests to create pods.
type PodInjector struct {
	// Outcomes counts requests by outcome; dry runs are not counted, nor is a second look at a pod.
	Outcomes *prometheus.CounterVec

	opts Options
}

// NewPodInjector returns a handler whose metrics all exist from the start.
func NewPodInjector(o Options) *PodInjector {
	outcomes := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "headgate_injections_total",
		Help: "Pods seen at admission, by what became of them.",
	}, []string{"outcome"})
	for _, r := range inject.Reasons() {
		outcomes.WithLabelValues(string(r))
	}
	outcomes.WithLabelValues(outcomeFailed)
	return &PodInjector{Outcomes: outcomes, opts: o}
}

// Handle injects the gateway. It answers for itself when something panics: an error that reached the
// API server as an answer would refuse the pod in spite of failurePolicy Ignore.
func (h *PodInjector) Handle(ctx context.Context, req admission.Request) (resp admission.Response) {
	defer func() {
		if r := recover(); r != nil {
			resp = h.failOpen(ctx, req, fmt.Errorf("panic: %v", r))
		}
	}()
	if req.Operation != admissionv1.Create || req.SubResource != "" {
		return admission.Allowed("")
	}
	var pod corev1.Pod
	if err := json.Unmarshal(req.Object.Raw, &pod); err != nil {
		return h.failOpen(ctx, req, err)
	}
	after, outcome := inject.Inject(pod, h.params(ctx, req.Namespace))
	operations := inject.Diff(&pod, &after)
	h.record(ctx, req, &pod, outcome, len(operations) > 0)
	return patched(operations).WithWarnings(warnings(outcome)...)
}

// params completes the installation's with what belongs to the namespace of the request.
func (h *PodInjector) params(ctx context.Context, namespace string) inject.Params {
	p := h.opts.Params
	p.Namespace = namespace
	if h.opts.Bundle != nil {
		p.CoordinatorCA = string(h.opts.Bundle())
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var ranges corev1.LimitRangeList
	if err := h.opts.Reader.List(ctx, &ranges, client.InNamespace(namespace)); err != nil {
		// Most namespaces have none, so the usual resources are the best guess.
		logf.FromContext(ctx).Info("injecting without the namespace's LimitRanges", "reason", err.Error())
		return p
	}
	for i := range ranges.Items {
		p.LimitRanges = append(p.LimitRanges, ranges.Items[i].Spec.Limits...)
	}
	var quotas corev1.ResourceQuotaList
	if err := h.opts.Reader.List(ctx, &quotas, client.InNamespace(namespace)); err != nil {
		logf.FromContext(ctx).Info("injecting without the namespace's ResourceQuotas", "reason", err.Error())
		return p
	}
	p.CountsBestEffort = slices.ContainsFunc(quotas.Items, countsBestEffort)
	return p
}

// countsBestEffort says whether a quota is for pods of this quality of service alone, or for all but them.
func countsBestEffort(q corev1.ResourceQuota) bool {
	of := func(scope corev1.ResourceQuotaScope) bool {
		return scope == corev1.ResourceQuotaScopeBestEffort || scope == corev1.ResourceQuotaScopeNotBestEffort
	}
	if q.Spec.ScopeSelector != nil {
		for _, m := range q.Spec.ScopeSelector.MatchExpressions {
			if of(m.ScopeName) {
				return true
			}
		}
	}
	return slices.ContainsFunc(q.Spec.Scopes, of)
}

func (h *PodInjector) record(ctx context.Context, req admission.Request, pod *corev1.Pod, o inject.Outcome, changed bool) {
	logf.FromContext(ctx).V(1).Info("pod admitted", "pod", displayName(req.Namespace, pod), "outcome", o.Annotation())
	if changed && !isDryRun(req) {
		h.Outcomes.WithLabelValues(string(o.Reason)).Inc()
	}
}

func (h *PodInjector) failOpen(ctx context.Context, req admission.Request, err error) admission.Response {
	logf.FromContext(ctx).Error(err, "pod admitted without a gateway", "namespace", req.Namespace)
	if !isDryRun(req) {
		h.Outcomes.WithLabelValues(outcomeFailed).Inc()
	}
	return admission.Allowed("").WithWarnings("headgate: the pod was admitted without a gateway because of an internal error")
}

// patched converts our edits to the library's.
func patched(operations []inject.Operation) admission.Response {
	out := make([]jsonpatch.Operation, len(operations))
	for i, op := range operations {
		out[i] = jsonpatch.Operation{Operation: op.Op, Path: op.Path, Value: op.Value}
	}
	return admission.Patched("", out...)
}

// warnings tell a person who creates a pod by hand why it has no gateway.
func warnings(o inject.Outcome) []string {
	switch o.Reason {
	case inject.Injected, inject.SkippedOptOut, inject.SkippedMirrorPod:
		return nil
	default:
		return []string{"headgate: no gateway injected: " + o.Annotation()}
	}
}

// displayName is what logs call a pod whose name does not exist yet.
func displayName(namespace string, pod *corev1.Pod) string {
	if pod.Name == "" {
		return namespace + "/" + pod.GenerateName + "*"
	}
	return namespace + "/" + pod.Name
}

func isDryRun(req admission.Request) bool { return req.DryRun != nil && *req.DryRun }
