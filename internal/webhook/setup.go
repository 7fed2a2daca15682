// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/inject"
)

// The paths that config/webhook names.
const (
	PodPath     = "/mutate-pods"
	PolicyPath  = "/validate-policies"
	AccountPath = "/validate-accounts"
)

// readTimeout bounds the wait for a cache, well below the API server's 3 s.
const readTimeout = time.Second

// Options of the handlers.
type Options struct {
	// Params is the installation's part; Namespace, CoordinatorCA, LimitRanges and CountsBestEffort are filled in per pod.
	Params inject.Params
	// Bundle returns the PEM bundle that verifies the coordinator; nil leaves it out.
	Bundle func() []byte
	// Reader reads from caches: LimitRanges, ResourceQuotas, Pods, Namespaces, policies and accounts.
	Reader client.Reader
	// Live reads from the API server; nil is the manager's.
	Live client.Reader
}

// Setup registers the handlers with the manager's webhook server, and their metrics.
func Setup(mgr ctrl.Manager, o Options) error {
	if o.Reader == nil {
		o.Reader = mgr.GetClient()
	}
	if o.Live == nil {
		o.Live = mgr.GetAPIReader()
	}
	if err := awaitCaches(mgr); err != nil {
		return err
	}
	pods := NewPodInjector(o)
	if err := metrics.Registry.Register(pods.Outcomes); err != nil {
		return err
	}
	mgr.GetWebhookServer().Register(PodPath, &admission.Webhook{Handler: pods})
	return errors.Join(
		ctrl.NewWebhookManagedBy(mgr, &v1alpha1.RateLimitPolicy{}).
			WithValidator(&PolicyValidator{Reader: o.Reader, Live: o.Live}).
			WithValidatorCustomPath(PolicyPath).
			Complete(),
		ctrl.NewWebhookManagedBy(mgr, &v1alpha1.ProviderAccount{}).
			WithValidator(&AccountValidator{Reader: o.Reader}).
			WithValidatorCustomPath(AccountPath).
			Complete(),
	)
}

// awaitCaches has the manager wait, before it is ready, for what the injection of pods reads: else the first pods would be
// made to fit what is not known yet.
func awaitCaches(mgr ctrl.Manager) error {
	for _, o := range []client.Object{&corev1.LimitRange{}, &corev1.ResourceQuota{}} {
		if _, err := mgr.GetCache().GetInformer(context.Background(), o); err != nil {
			return fmt.Errorf("cache %T: %w", o, err)
		}
	}
	return nil
}
