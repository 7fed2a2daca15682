// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/sidecar"
	"github.com/headgate-dev/headgate/test/demo/load"
)

// proxies are settings as teams share them: a proxy that answers nobody, with and without an exception.
const proxies = `---
apiVersion: v1
kind: ConfigMap
metadata: {name: proxy-and-exceptions}
data: {HTTPS_PROXY: "http://127.0.0.1:9", NO_PROXY: ".llm-provider.svc"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: proxy-alone}
data: {https_proxy: "http://127.0.0.1:9"}
`

// report holds once so many gateways do.
func report(n int32) statusCheck {
	return func(s *v1alpha1.RateLimitPolicyStatus) error {
		if s.Gateways.Reporting != n {
			return fmt.Errorf("gateways %+v, want %d reporting", s.Gateways, n)
		}
		return nil
	}
}

// D16: proxy settings that an app has from a ConfigMap are the gateway's too, exceptions included, and keep nobody from the
// gateway nor it from the coordinator.
func TestD16ProxiesFromAConfigMapAreTheGateways(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	n.apply(t, smallest+proxies)
	within(t, 30*time.Second, "variables for containers with sources", func(ctx context.Context) error {
		return api.Get(ctx, types.NamespacedName{Namespace: n.name, Name: sidecar.EnvConfigMap}, &corev1.ConfigMap{})
	})
	start := func(source string) *corev1.Pod {
		spec := appSpec()
		spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: source},
		}}}
		return n.serving(t, n.startPod(t, source, spec).Name)
	}
	past := start("proxy-and-exceptions")
	n.eventually(t, time.Minute, "the gateway reports past the proxy", report(1))
	mustCall(t, past, load.Call{InputTokens: 100})
	through := start("proxy-alone")
	n.eventually(t, time.Minute, "the second does, too", report(2))
	if out, err := call(t.Context(), through, load.Call{InputTokens: 100}); err == nil && out.OK {
		t.Errorf("a call passed the proxy by: %+v", out)
	}
	n.mustArrive(t, 1)
}
