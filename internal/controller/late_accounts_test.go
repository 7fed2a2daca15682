// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/testing/controlplane"
)

// A manager that is upgraded before the CRDs says so, and works with accounts once their type is served, without a restart.
func TestAccountsAreWatchedOnceTheirTypeIsServed(t *testing.T) {
	old := controlplane.Start(t, controlplane.Options{WithoutCRDs: true})
	crd := func(name string) string {
		return filepath.Join(old.Root, "config", "crd", "bases", "headgate.dev_"+name+".yaml")
	}
	old.RunKubectl(t, "apply", "--server-side", "-f", crd("ratelimitpolicies"))
	old.RunKubectl(t, "wait", "--for=condition=Established", "crd/ratelimitpolicies.headgate.dev")
	startOn(t, old)

	ns := old.Namespace(t, nil)
	apply := func(kind, text string) {
		file := filepath.Join(t.TempDir(), kind+".yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		// A type is established a moment before it is served.
		eventually(t, func() string {
			out, err := old.TryKubectl(t, "apply", "-f", file)
			if err != nil {
				return out + err.Error()
			}
			return ""
		})
	}
	apply("policy", strings.NewReplacer("%s", ns).Replace(strings.Replace(ofAccountYAML, "{name: %s}", "{name: late}", 1)))
	expect := func(want string) {
		t.Helper()
		eventually(t, func() string {
			var p v1alpha1.RateLimitPolicy
			if err := old.Client.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "default"}, &p); err != nil {
				return err.Error()
			}
			return cmp.Diff(want, reason(&p, "Accepted"))
		})
	}
	expect("False/SchemaOutdated")
	old.RunKubectl(t, "apply", "--server-side", "-f", crd("provideraccounts"))
	old.RunKubectl(t, "wait", "--for=condition=Established", "crd/provideraccounts.headgate.dev")
	expect("False/AccountNotFound")
	apply("account", strings.Replace(strings.Replace(accountYAML, "%s", "late", 1), "%s", limits2M+"allowedNamespaces: {selector: {}}", 1))
	expect("True/Valid")
	eventually(t, func() string {
		var a v1alpha1.ProviderAccount
		if err := old.Client.Get(t.Context(), client.ObjectKey{Name: "late"}, &a); err != nil {
			return err.Error()
		}
		return cmp.Diff("True/Valid", accountReason(&a, "Accepted"))
	})
}

// startOn runs a second manager, on another API server.
func startOn(t *testing.T, on *controlplane.Env) {
	t.Helper()
	mgr, err := ctrl.NewManager(on.Config, ctrl.Options{
		Scheme: on.Scheme, Cache: CacheOptions(), Client: ClientOptions(), Controller: config.Controller{SkipNameValidation: ptr.To(true)},
		Metrics: server.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
	})
	if err != nil {
		t.Fatal(err)
	}
	envCache, err := NewEnvCache(on.Config, cache.Options{Scheme: on.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	if err := mgr.Add(envCache); err != nil {
		t.Fatal(err)
	}
	idle := &fakeGateways{plans: map[string]int64{}, changed: make(chan struct{}, 1)}
	r := New(Options{
		Client: mgr.GetClient(), Env: envCache, Plans: idle, Reports: idle,
		Recorder: mgr.GetEventRecorder("headgate"), CoordinatorCA: idle.bundle, Now: time.Now,
	})
	if err := Setup(mgr, envCache, r); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
