// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/certs"
	"github.com/headgate-dev/headgate/internal/controller"
	"github.com/headgate-dev/headgate/internal/coordinator"
	"github.com/headgate-dev/headgate/internal/inject"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/webhook"
)

// The lease's times. A slow API server must not kill the process the webhooks live in, so they are four
// times the usual ones; a leader that stops gives the lease back, so a rollout does not wait for them. How often it is tried is the
// usual: until another replica has noticed that the lease was given back nobody grants.
const (
	leaseDuration = 60 * time.Second
	renewDeadline = 45 * time.Second
	retryPeriod   = 2 * time.Second
)

// parts are what Run wires.
type parts struct {
	opts   *Options
	config *rest.Config
	log    *slog.Logger
	mgr    ctrl.Manager
	// direct reads and writes without a cache.
	direct      client.Client
	source      *certs.Source
	fence       *fence
	leadership  *leadership
	coordinator *coordinator.Server
	// storeLost says whether the budget store is lost; nil without one.
	storeLost func() (since time.Time, lost bool)
}

// Run runs a manager until ctx ends or it loses the lease.
func Run(ctx context.Context, config *rest.Config, opts *Options, log *slog.Logger) error {
	p := &parts{opts: opts, config: config, log: log}
	for _, step := range []func() error{
		p.makeClients, p.makeManager, p.addCertificates, p.addCoordinator, p.addBudgetStore, p.addController, p.addWebhooks,
		p.addHealth,
	} {
		if err := step(); err != nil {
			return fmt.Errorf("set up the manager: %w", err)
		}
	}
	return p.mgr.Start(ctx)
}

// Scheme knows the types the manager works with.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme))
}

func (p *parts) makeClients() error {
	scheme, err := Scheme()
	if err != nil {
		return err
	}
	p.direct, err = client.New(p.config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	p.source = certs.New(p.direct, certs.Options{
		Namespace:  p.opts.Namespace,
		Mutating:   []string{certs.MutatingConfiguration},
		Validating: []string{certs.ValidatingConfiguration},
	})
	return nil
}

func (p *parts) makeManager() (err error) {
	if p.fence, err = newFence(p.config, p.opts.Namespace, p.opts.PodUID); err != nil {
		return err
	}
	p.mgr, err = ctrl.NewManager(p.config, ctrl.Options{
		Scheme: p.direct.Scheme(), Logger: logr.FromSlogHandler(p.log.Handler()),
		Cache: controller.CacheOptions(), Client: controller.ClientOptions(),
		// Both are served by addPages.
		Metrics: metricsserver.Options{BindAddress: none}, HealthProbeBindAddress: none,
		WebhookServer: webhook.NewServer(webhook.ServerOptions{
			Address: webhook.AddressOf(p.opts.WebhookPort), Certificate: p.source.GetCertificate, Log: p.log,
		}),
		LeaderElection: true, LeaderElectionID: LeaseName, LeaderElectionResourceLockInterface: p.fence,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 ptr.To(leaseDuration), RenewDeadline: ptr.To(renewDeadline), RetryPeriod: ptr.To(retryPeriod),
	})
	return err
}

func (p *parts) addCertificates() error {
	return errors.Join(metrics.Registry.Register(p.source), p.mgr.Add(p.source), p.mgr.Add(p.source.Issuer()))
}

func (p *parts) addCoordinator() error {
	origin, err := p.installation()
	if err != nil {
		return err
	}
	p.leadership = newLeadership(p.direct, p.opts.Namespace, p.opts.advertised(), p.fence.Until)
	p.coordinator = coordinator.New(coordinator.Options{
		Reviewer:   coordinator.TokenReviewer{Reviews: tokenReviews{p.direct}},
		Leadership: p.leadership,
		Pods:       cachedPods{p.mgr.GetCache()},
		Log:        p.log,
		States:     newStates(p.direct, p.opts.Namespace),
		Ledger:     ledger.Options{Origin: origin, External: p.opts.BudgetStore.URL != ""},
	})
	if err := metrics.Registry.Register(p.coordinator); err != nil {
		return err
	}
	server := coordinator.NewHTTPServer(p.coordinator, p.source.GetCertificate)
	return errors.Join(
		p.mgr.Add(everywhere(p.leadership.watch)),
		p.mgr.Add(onLeader(p.leadership.announce)),
		p.mgr.Add(everywhere(p.coordinator.Run)),
		p.mgr.Add(everywhere(func(ctx context.Context) error {
			return serveCoordinator(ctx, server, p.opts.CoordinatorAddress)
		})),
	)
}

// installation is what no other has: another cluster's may have been copied from this one.
func (p *parts) installation() (string, error) {
	var own corev1.Namespace
	if err := p.direct.Get(context.Background(), client.ObjectKey{Name: p.opts.Namespace}, &own); err != nil {
		return "", fmt.Errorf("read the manager's own namespace: %w", err)
	}
	return string(own.UID), nil
}

func (p *parts) addController() error {
	env, err := controller.NewEnvCache(p.config, cache.Options{
		Scheme: p.mgr.GetScheme(), Mapper: p.mgr.GetRESTMapper(), HTTPClient: p.mgr.GetHTTPClient(),
	})
	if err != nil {
		return err
	}
	reconciler := controller.New(controller.Options{
		Client: p.mgr.GetClient(), Env: env, Plans: p.coordinator, Reports: p.coordinator,
		Accounts: p.coordinator, Budgets: p.coordinator, Store: p.store(),
		Recorder:      p.mgr.GetEventRecorder("headgate"),
		CoordinatorCA: p.source.Bundle, ProviderCA: p.opts.providerCA, Now: time.Now,
	})
	return errors.Join(
		metrics.Registry.Register(reconciler.Collector()),
		p.mgr.Add(env), controller.Setup(p.mgr, env, reconciler),
	)
}

func (p *parts) addWebhooks() error {
	d, err := discovery.NewDiscoveryClientForConfigAndClient(p.config, p.mgr.GetHTTPClient())
	if err != nil {
		return err
	}
	cluster, err := webhook.Detect(d)
	if err != nil {
		return err
	}
	// The webhooks read from the cache itself: they must not wait for the controller's writes to show.
	return webhook.Setup(p.mgr, webhook.Options{
		Params: inject.Params{
			ExcludedNamespaces: []string{p.opts.Namespace, "kube-system", "kube-public", "kube-node-lease"},
			Image:              p.opts.GatewayImage, PullPolicy: corev1.PullPolicy(p.opts.GatewayPullPolicy),
			CoordinatorURL: p.opts.CoordinatorURL, DeferredStore: p.opts.GatewayDeferredStore,
			NativeSidecars: cluster.NativeSidecars,
			OpenShift:      p.opts.OpenShift == "true" || (p.opts.OpenShift == "auto" && cluster.OpenShift),
		},
		Bundle: p.source.Bundle, Reader: p.mgr.GetCache(),
	})
}
