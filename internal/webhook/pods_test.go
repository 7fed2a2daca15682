// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/inject"
	"github.com/headgate-dev/headgate/internal/sidecar"
	"github.com/headgate-dev/headgate/internal/testing/controlplane"
)

var optedIn = map[string]string{v1alpha1.LabelInject: v1alpha1.InjectEnabled}

func newPod(namespace, name string) *corev1.Pod {
	no, yes, user := false, true, int64(1000)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		// The suite's API server runs without the admission that fills in the service account.
		Spec: corev1.PodSpec{ServiceAccountName: "default", Containers: []corev1.Container{{
			Name: "app", Image: "example/app", Env: []corev1.EnvVar{{Name: "ANTHROPIC_API_KEY", Value: controlplane.AppKey}},
			SecurityContext: &corev1.SecurityContext{ // passes the standard "restricted"
				AllowPrivilegeEscalation: &no, RunAsNonRoot: &yes, RunAsUser: &user,
				Capabilities:   &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
		}}},
	}
}

func create(t *testing.T, pod *corev1.Pod, opts ...client.CreateOption) *corev1.Pod {
	t.Helper()
	if err := env.Client.Create(t.Context(), pod, opts...); err != nil {
		t.Fatalf("create the pod %s: %v", displayName(pod.Namespace, pod), err)
	}
	return pod
}

func isInjected(pod *corev1.Pod) bool {
	return len(pod.Spec.InitContainers) > 0 && pod.Spec.InitContainers[0].Name == sidecar.ContainerName
}

func mustBeInjected(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	if !isInjected(pod) {
		t.Fatalf("%s is not injected; its annotations are %v", displayName(pod.Namespace, pod), pod.Annotations)
	}
}

// TestD1PodsOutsideTheSelectorsAreNeverSent creates pods in every place that must not depend on us.
func TestD1PodsOutsideTheSelectorsAreNeverSent(t *testing.T) {
	label := func(pod *corev1.Pod, value string) *corev1.Pod {
		pod.Labels = map[string]string{v1alpha1.LabelInject: value}
		return pod
	}
	for _, namespace := range []string{"kube-system", "kube-public", ownNamespace} {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"headgate.dev/inject":"enabled"}}}`))
		if err := env.Client.Patch(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, patch); err != nil {
			t.Fatal(err)
		}
		create(t, newPod(namespace, "in-labelled"))
		create(t, label(newPod(namespace, "labelled"), v1alpha1.InjectEnabled))
		if got := calls.in(namespace); len(got) > 0 {
			t.Errorf("%d requests about %s", len(got), namespace)
		}
	}
	unlabelled, labelled := env.Namespace(t, nil), env.Namespace(t, optedIn)
	create(t, newPod(unlabelled, "plain"))
	create(t, label(newPod(labelled, "opted-out"), v1alpha1.InjectDisabled))
	if got := len(calls.in(unlabelled)) + len(calls.in(labelled)); got > 0 {
		t.Errorf("%d requests about pods that nobody opted in", got)
	}
	// The counterpart: each entry is used, and a pod that matches both ways is sent once.
	mustBeInjected(t, create(t, label(newPod(unlabelled, "labelled"), v1alpha1.InjectEnabled)))
	mustBeInjected(t, create(t, label(newPod(labelled, "both"), v1alpha1.InjectEnabled)))
	if a, b := len(calls.in(unlabelled)), len(calls.in(labelled)); a != 1 || b != 1 {
		t.Errorf("%d and %d requests, want one each", a, b)
	}
}

// TestD5NamespaceComesFromTheRequest: a controller's pod has neither name nor namespace at admission.
func TestD5NamespaceComesFromTheRequest(t *testing.T) {
	namespace := env.Namespace(t, optedIn)
	limitRange := &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "limits"},
		Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("200Mi")},
		}}},
	}
	if err := env.Client.Create(t.Context(), limitRange); err != nil {
		t.Fatal(err)
	}
	waitForLimitRange(t, namespace)
	pod := newPod(namespace, "")
	pod.GenerateName = "api-"
	mustBeInjected(t, create(t, pod))
	seen := calls.in(namespace)
	last := seen[len(seen)-1]
	if strings.Contains(string(last.Object.Raw), `"namespace"`) {
		t.Log("the API server filled in the namespace; the unit test covers its absence")
	}
	for name, path := range map[string]string{
		sidecar.EnvPodName: "metadata.name", sidecar.EnvPodUID: "metadata.uid", sidecar.EnvNamespace: "metadata.namespace",
	} {
		if !slices.ContainsFunc(pod.Spec.InitContainers[0].Env, func(e corev1.EnvVar) bool {
			return e.Name == name && e.ValueFrom != nil && e.ValueFrom.FieldRef != nil && e.ValueFrom.FieldRef.FieldPath == path
		}) {
			t.Errorf("%s is not the running pod's own: %+v", name, pod.Spec.InitContainers[0].Env)
		}
	}
	if got := pod.Spec.InitContainers[0].Resources.Limits.Memory().String(); got != "200Mi" {
		t.Errorf("memory limit %s, want the one of the request's namespace, 200Mi", got)
	}
}

// waitForLimitRange waits until the handler's cache and the API server's know the LimitRange.
func waitForLimitRange(t *testing.T, namespace string) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		pod := newPod(namespace, "dry")
		err := env.Client.Create(t.Context(), pod, client.DryRunAll)
		if err == nil && isInjected(pod) && pod.Spec.InitContainers[0].Resources.Limits.Memory().Cmp(resource.MustParse("256Mi")) < 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the LimitRange is not seen")
}

// Fault D6: Injected containers broke the pod security standard of the namespace, or OpenShift's range of users.
// Headgate: The gateway's container passes restricted by itself whatever the pod says, and on OpenShift leaves the user
// to the namespace.
func TestD6RestrictedNamespaceAdmitsInjectedPods(t *testing.T) {
	namespace := env.Namespace(t, map[string]string{
		v1alpha1.LabelInject:                         v1alpha1.InjectEnabled,
		"pod-security.kubernetes.io/enforce":         "restricted",
		"pod-security.kubernetes.io/enforce-version": "latest",
	})
	pod := create(t, newPod(namespace, "app"))
	mustBeInjected(t, pod)
	sc := pod.Spec.InitContainers[0].SecurityContext
	if !*sc.RunAsNonRoot || !*sc.ReadOnlyRootFilesystem || *sc.RunAsUser != 65532 {
		t.Errorf("security context %+v", sc)
	}
	bad := newPod(namespace, "root") // the namespace does enforce
	bad.Spec.Containers[0].SecurityContext = nil
	if err := env.Client.Create(t.Context(), bad); err == nil {
		t.Error("an unrestricted pod was admitted")
	}
}

// TestD7QuotaAndLimitRangeAdmitInjectedPods: a quota refuses a pod in which any container lacks what it
// counts, and a LimitRange refuses one whose limits are too high or too far above its requests.
//
// Fault D7: Without requests and limits on the sidecar, quotas refused pods, autoscalers went blind and Guaranteed pods
// lost their class.
// Headgate: The gateway has requests and limits of every kind a quota counts, fits the namespace's LimitRange, stays
// Guaranteed among Guaranteed, and its share of an autoscaler's sum is small and known.
func TestD7QuotaAndLimitRangeAdmitInjectedPods(t *testing.T) {
	namespace := env.Namespace(t, optedIn)
	hard := corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{
		corev1.ResourceRequestsCPU, corev1.ResourceLimitsCPU, corev1.ResourceRequestsMemory, corev1.ResourceLimitsMemory,
		corev1.ResourceRequestsEphemeralStorage, corev1.ResourceLimitsEphemeralStorage,
	} {
		hard[name] = resource.MustParse("100Gi")
	}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "quota"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}
	limitRange := &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "limits"},
		Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type:                 corev1.LimitTypeContainer,
			Max:                  corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("400m"), corev1.ResourceMemory: resource.MustParse("200Mi")},
			MaxLimitRequestRatio: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("2")},
		}}},
	}
	if err := env.Client.Create(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	quota.Status.Hard, quota.Status.Used = hard, corev1.ResourceList{}
	for name := range hard {
		quota.Status.Used[name] = resource.MustParse("0")
	}
	if err := env.Client.Status().Update(t.Context(), quota); err != nil { // what the quota controller does
		t.Fatal(err)
	}
	withResources := func(name string) *corev1.Pod {
		pod := newPod(namespace, name)
		all := corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("100Mi"), corev1.ResourceEphemeralStorage: resource.MustParse("1Gi"),
		}
		pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: all, Limits: all}
		return pod
	}
	waitForQuota(t, namespace)
	if err := env.Client.Create(t.Context(), limitRange); err != nil { // later, since it fills in what the quota misses
		t.Fatal(err)
	}
	waitForLimitRange(t, namespace)
	pod := create(t, withResources("guaranteed"))
	mustBeInjected(t, pod)
	if pod.Status.QOSClass != corev1.PodQOSGuaranteed {
		t.Errorf("quality of service %s, want Guaranteed as without the gateway", pod.Status.QOSClass)
	}
	burstable := withResources("burstable")
	burstable.Spec.Containers[0].Resources.Requests = burstable.Spec.Containers[0].Resources.Requests.DeepCopy()
	burstable.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("60m")
	mustBeInjected(t, create(t, burstable))
}

// waitForQuota waits until a pod without resources is refused, which shows that the quota is enforced.
func waitForQuota(t *testing.T, namespace string) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		err := env.Client.Create(t.Context(), newPod(namespace, "dry"), client.DryRunAll)
		if err != nil && strings.Contains(err.Error(), "must specify") {
			if strings.Contains(err.Error(), sidecar.ContainerName) {
				t.Fatalf("the quota misses something of ours: %v", err)
			}
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the quota is not enforced")
}

// Fault D10: Two hostNetwork pods on a node fought for the sidecar's ports and crashed in turn.
// Headgate: They are left alone with the reason, named in status and told by an Event, unless an annotation asks for
// it.
func TestD10HostNetworkIsSkippedUnlessAllowed(t *testing.T) {
	namespace := env.Namespace(t, optedIn)
	onHost := func(name string) *corev1.Pod {
		pod := newPod(namespace, name)
		pod.Spec.HostNetwork = true
		return pod
	}
	skipped := create(t, onHost("skipped"))
	if isInjected(skipped) || !strings.HasPrefix(skipped.Annotations[sidecar.AnnotationOutcome], string(inject.SkippedHostNetwork)) {
		t.Errorf("annotations %v", skipped.Annotations)
	}
	allowed := onHost("allowed")
	allowed.Annotations = map[string]string{sidecar.AnnotationAllowHostNetwork: "true"}
	mustBeInjected(t, create(t, allowed))
}

// TestD11RunningPodsAreNeverSent does to a running pod everything that must not need us.
//
// Fault D11: Webhooks that also heard updates broke kubectl debug, label edits and finalizers of running pods.
// Headgate: Only the creation of pods is sent, and only that is worked on.
func TestD11RunningPodsAreNeverSent(t *testing.T) {
	namespace := env.Namespace(t, optedIn)
	pod := newPod(namespace, "app")
	pod.Finalizers = []string{"example.com/finalizer"}
	create(t, pod)
	before := len(calls.in(namespace))
	pod.Labels = map[string]string{v1alpha1.LabelInject: v1alpha1.InjectEnabled}
	if err := env.Client.Update(t.Context(), pod); err != nil {
		t.Fatalf("label: %v", err)
	}
	pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{
		Name: "debug", Image: "example/debug", SecurityContext: pod.Spec.Containers[0].SecurityContext,
	}}}
	if err := env.Client.SubResource("ephemeralcontainers").Update(t.Context(), pod); err != nil {
		t.Fatalf("ephemeral container: %v", err)
	}
	resized := client.RawPatch(types.StrategicMergePatchType, []byte(
		`{"spec":{"initContainers":[{"name":"headgate-gateway","resources":{"requests":{"cpu":"60m"}}}]}}`))
	if err := env.Client.SubResource("resize").Patch(t.Context(), pod, resized); err != nil {
		t.Fatalf("resize: %v", err)
	}
	if err := env.Client.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
		t.Fatalf("delete: %v", err)
	}
	unfinalized := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	if err := env.Client.Patch(t.Context(), pod, unfinalized); err != nil {
		t.Fatalf("remove the finalizer: %v", err)
	}
	if after := len(calls.in(namespace)); after != before || before != 1 {
		t.Errorf("%d requests after the pod was created, %d at the end; want 1", before, after)
	}
}

// TestD13NothingMountedMustExist: policy, plan, keys and variables may all come later.
//
// Fault D13: A pod hung because its configuration came a second later, or was deleted.
// Headgate: Everything mounted is optional; a pod starts without its plan, takes it when it comes, and keeps the last
// good one when it goes.
func TestD13NothingMountedMustExist(t *testing.T) {
	namespace := env.Namespace(t, optedIn)
	pod := newPod(namespace, "app")
	pod.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "theirs"}}}}
	mustBeInjected(t, create(t, pod))
	for _, v := range pod.Spec.Volumes {
		if v.ConfigMap != nil && !*v.ConfigMap.Optional || v.Secret != nil && !*v.Secret.Optional {
			t.Errorf("volume %s keeps the pod from starting until its object exists", v.Name)
		}
	}
	first := pod.Spec.Containers[0].EnvFrom[0]
	if first.ConfigMapRef == nil || first.ConfigMapRef.Name != sidecar.EnvConfigMap || !*first.ConfigMapRef.Optional {
		t.Errorf("the first source of variables is %+v", first)
	}
	for _, m := range pod.Spec.InitContainers[0].VolumeMounts {
		if m.SubPath != "" {
			t.Errorf("%s is mounted by subPath, which never changes", m.MountPath)
		}
	}
}

// TestD16VariablesReachEveryContainer checks what the API server stored.
func TestD16VariablesReachEveryContainer(t *testing.T) {
	namespace := env.Namespace(t, optedIn)
	pod := newPod(namespace, "app")
	init := pod.Spec.Containers[0]
	init.Name = "init"
	pod.Spec.InitContainers = []corev1.Container{init}
	proxied := pod.Spec.Containers[0]
	proxied.Name = "proxied"
	proxied.Env = []corev1.EnvVar{{Name: "HTTPS_PROXY", Value: "http://proxy.example:3128"}, {Name: "OPENAI_BASE_URL", Value: "https://theirs.example/v1"}}
	pod.Spec.Containers = append(pod.Spec.Containers, proxied)
	mustBeInjected(t, create(t, pod))
	has := func(c corev1.Container, name, value string) {
		t.Helper()
		if !slices.Contains(c.Env, corev1.EnvVar{Name: name, Value: value}) {
			t.Errorf("container %s: no %s=%s in %v", c.Name, name, value, c.Env)
		}
	}
	for _, c := range []corev1.Container{pod.Spec.InitContainers[1], pod.Spec.Containers[0]} {
		has(c, "OPENAI_BASE_URL", "http://127.0.0.1:15080/openai/v1")
		has(c, "ANTHROPIC_BASE_URL", "http://127.0.0.1:15080/anthropic")
	}
	has(pod.Spec.Containers[1], "OPENAI_BASE_URL", "https://theirs.example/v1")
	has(pod.Spec.Containers[1], "NO_PROXY", "127.0.0.1,localhost,::1")
	if got := pod.Annotations[sidecar.AnnotationUnrouted]; got != "proxied=OPENAI_BASE_URL" {
		t.Errorf("unrouted %q", got)
	}
}

// TestDryRunIsHarmless: the answer is the same, and nothing is counted.
func TestDryRunIsHarmless(t *testing.T) {
	namespace := env.Namespace(t, optedIn)
	before := gathered(t, "headgate_injections_total", string(inject.Injected))
	pod := create(t, newPod(namespace, "dry"), client.DryRunAll)
	mustBeInjected(t, pod)
	if after := gathered(t, "headgate_injections_total", string(inject.Injected)); after != before {
		t.Errorf("a dry run was counted: %v, then %v", before, after)
	}
	create(t, newPod(namespace, "real"))
	if after := gathered(t, "headgate_injections_total", string(inject.Injected)); after != before+1 {
		t.Errorf("a pod was not counted: %v, then %v", before, after)
	}
}
