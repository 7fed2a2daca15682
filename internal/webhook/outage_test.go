// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// shippedTimeout is how long an API server waits for injection.
const shippedTimeout = 3 * time.Second

// TestD1OutageAdmitsPodsUninjected while connections are refused, and while they are taken and nothing comes back, as when
// a network drops what it is sent.
func TestD1OutageAdmitsPodsUninjected(t *testing.T) {
	t.Run("refused", func(t *testing.T) {
		namespace := env.Namespace(t, optedIn)
		defer front.set(forward)
		front.set(refuse)
		if pod := create(t, newPod(namespace, "refused")); isInjected(pod) {
			t.Error("injected by a webhook that is down")
		}
		front.set(forward)
		mustBeInjected(t, create(t, newPod(namespace, "afterwards")))
	})
	t.Run("silent", func(t *testing.T) {
		hole, err := newBalancer()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { hole.set(refuse); _ = hole.listener.Close() })
		hole.set(hang)
		namespace := env.Namespace(t, map[string]string{"example.com/webhook": "silent"})
		installSilent(t, hole)
		// The API server learns of the configuration a moment after it is written.
		for end := time.Now().Add(patience); hole.asked() == 0; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the webhook is never called")
			}
			create(t, newPod(namespace, "dry"), client.DryRunAll)
		}
		asked, began := hole.asked(), time.Now()
		create(t, newPod(namespace, "silent"))
		took := time.Since(began)
		t.Logf("created in %s", took)
		if took > 10*shippedTimeout || hole.asked() == asked {
			t.Errorf("created in %s, asked for it %t", took, hole.asked() > asked)
		}
	})
}

// installSilent adds the entry for namespaces as it is shipped, but for where it is sent and which namespaces it is for.
func installSilent(t *testing.T, hole *balancer) {
	t.Helper()
	shipped, err := readManifests(filepath.Join(env.Root, "config", "webhook", "pod_injection.yaml"))
	if err != nil || len(shipped) != 1 {
		t.Fatalf("%d objects: %v", len(shipped), err)
	}
	var config admissionregistrationv1.MutatingWebhookConfiguration
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(shipped[0].Object, &config); err != nil {
		t.Fatal(err)
	}
	for _, w := range config.Webhooks {
		if *w.TimeoutSeconds != int32(shippedTimeout/time.Second) {
			t.Errorf("an API server waits %d s for %s", *w.TimeoutSeconds, w.Name)
		}
	}
	config.Name, config.Webhooks = "silent", config.Webhooks[:1]
	url := "https://" + hole.address() + PodPath
	config.Webhooks[0].ClientConfig = admissionregistrationv1.WebhookClientConfig{URL: &url}
	config.Webhooks[0].NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"example.com/webhook": "silent"}}
	if err := env.Client.Create(t.Context(), &config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = env.Client.Delete(context.WithoutCancel(t.Context()), &config) })
}
