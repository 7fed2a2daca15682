// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/headgate-dev/headgate/test/demo/load"
)

// placeholder is what apps have for a key; the gateway replaces it.
const placeholder = "placeholder-replaced-by-the-gateway"

// appSpec is an app as careful teams write it; args such as "call" replace the server.
func appSpec(args ...string) corev1.PodSpec {
	return corev1.PodSpec{
		AutomountServiceAccountToken: ptr.To(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To(int64(65532)),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{appContainer("app", args...)},
	}
}

func appContainer(name string, args ...string) corev1.Container {
	return corev1.Container{
		Name: name, Image: appImage, ImagePullPolicy: corev1.PullNever, Args: args,
		Env: []corev1.EnvVar{{Name: "OPENAI_API_KEY", Value: placeholder}, {Name: "ANTHROPIC_API_KEY", Value: placeholder}},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true),
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}
}

// startPod creates a pod and returns it as the API server did.
func (n tenant) startPod(t *testing.T, name string, spec corev1.PodSpec) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: n.name, Labels: map[string]string{"app": name}}, Spec: spec}
	create(t, pod)
	return pod
}

// startApp creates a pod whose app serves, and returns it once it does.
func (n tenant) startApp(t *testing.T, name string) *corev1.Pod {
	t.Helper()
	return n.serving(t, n.startPod(t, name, appSpec()).Name)
}

// serving waits until a pod's app answers.
func (n tenant) serving(t *testing.T, name string) *corev1.Pod {
	t.Helper()
	var pod *corev1.Pod
	within(t, 90*time.Second, "pod "+name+" serves", func(ctx context.Context) (err error) {
		if pod, err = n.pod(ctx, name); err != nil {
			return err
		}
		if pod.Status.PodIP == "" {
			return fmt.Errorf("phase %s, no address", pod.Status.Phase)
		}
		return get(ctx, appURL(pod)+"/healthz", nil)
	})
	return pod
}

func (n tenant) pod(ctx context.Context, name string) (*corev1.Pod, error) {
	var pod corev1.Pod
	err := api.Get(ctx, types.NamespacedName{Namespace: n.name, Name: name}, &pod)
	return &pod, err
}

// injected says whether a pod has the gateway.
func injected(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == gatewayContainer })
}

func appURL(pod *corev1.Pod) string {
	return "http://" + pod.Status.PodIP + ":" + strconv.Itoa(load.Port)
}

// call has a pod's app make one call through its SDK.
func call(ctx context.Context, pod *corev1.Pod, c load.Call) (out load.Outcome, err error) {
	err = post(ctx, appURL(pod)+"/call", c, &out)
	return out, err
}

// mustCall is call where it has to end well.
func mustCall(t *testing.T, pod *corev1.Pod, c load.Call) load.Outcome {
	t.Helper()
	out, err := call(t.Context(), pod, c)
	if err != nil || !out.OK {
		t.Fatalf("a call of pod %s: %+v, %v", pod.Name, out, err)
	}
	return out
}

// web waits longer than any call may.
var web = &http.Client{Timeout: 2 * time.Minute}

func get(ctx context.Context, url string, into any) error {
	return exchange(ctx, http.MethodGet, url, nil, into)
}

func post(ctx context.Context, url string, body, into any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return exchange(ctx, http.MethodPost, url, raw, into)
}

func exchange(ctx context.Context, method, url string, body []byte, into any) error {
	answer, err := fetch(ctx, method, url, body)
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(answer, into)
}

// fetch returns the body of an answer that is a success.
func fetch(ctx context.Context, method, url string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	res, err := web.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(res.Body, 64<<20))
	if err != nil {
		return nil, err
	}
	if res.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s: %s: %.300s", url, res.Status, answer)
	}
	return answer, nil
}
