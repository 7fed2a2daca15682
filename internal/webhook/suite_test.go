// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/certs"
	"github.com/headgate-dev/headgate/internal/inject"
	"github.com/headgate-dev/headgate/internal/logs"
	"github.com/headgate-dev/headgate/internal/testing/canary"
	"github.com/headgate-dev/headgate/internal/testing/controlplane"
)

const (
	ownNamespace = "headgate-system"
	managerUser  = "system:serviceaccount:headgate-system:headgate-manager"
	testImage    = "example/gateway:v1"
)

// The suite is one real API server with the shipped manifests, and two replicas of the manager's servers
// behind one address, acting with the manager's own rights.
var (
	env      *controlplane.Env
	front    *balancer
	calls    = &recorder{}
	replicas [2]*certs.Source
	tlsLog   = &errorLog{}
	ahead    atomic.Int64 // of the certificates' clock, in nanoseconds
	// shown is what the webhooks log, answer and write, in which no key may stand.
	shown canary.Watch
)

func certsNow() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) (code int) {
	ctrl.SetLogger(logr.FromSlogHandler(logs.Handler(shown.Log("the log"), slog.LevelDebug)))
	shown.At("the metrics", func() (string, error) {
		families, err := metrics.Registry.Gather()
		return fmt.Sprint(families), err
	})
	var err error
	if env, err = controlplane.New(controlplane.Options{}); err != nil {
		fmt.Println("start a control plane:", err)
		return 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	done, err := startSuite(ctx)
	if err == nil {
		shown.At("the API", func() (string, error) { return env.Written(context.Background()) })
		code = shown.Run(m)
	}
	cancel()
	if done != nil {
		err = errors.Join(err, <-done)
	}
	if err = errors.Join(err, env.Stop()); err != nil {
		fmt.Println("suite:", err)
		return 1
	}
	return code
}

// startSuite returns a channel that yields when the manager has stopped.
func startSuite(ctx context.Context) (<-chan error, error) {
	var err error
	if front, err = newBalancer(); err != nil {
		return nil, err
	}
	if err := install(ctx); err != nil {
		return nil, err
	}
	mgr, err := newManager()
	if err != nil {
		return nil, err
	}
	if err := startReplicas(ctx, mgr.GetWebhookServer().WebhookMux()); err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	namespaces := &metav1.PartialObjectMetadata{}
	namespaces.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	// What pods are injected by, Setup waits for. The rest the manager's controllers read too.
	for _, o := range []client.Object{&v1alpha1.RateLimitPolicy{}, &v1alpha1.ProviderAccount{}, &corev1.Pod{}, namespaces} {
		if _, err := mgr.GetCache().GetInformer(ctx, o); err != nil {
			return done, err
		}
	}
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		return done, errors.New("the caches do not sync")
	}
	return done, waitReady(ctx)
}

// managerConfig acts as the manager does in a cluster, so that a right it lacks fails a test.
func managerConfig() *rest.Config {
	c := rest.CopyConfig(env.Config)
	c.Impersonate = rest.ImpersonationConfig{
		UserName: managerUser, Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + ownNamespace, "system:authenticated"},
	}
	return c
}

func newManager() (ctrl.Manager, error) {
	config := managerConfig()
	d, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	cluster, err := Detect(d)
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: env.Scheme, Metrics: server.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		// A handler that reads what nobody waited for fails.
		Cache:         cache.Options{ReaderFailOnMissingInformer: true},
		WebhookServer: webhook.NewServer(webhook.Options{Port: -1}), // served by the replicas below
	})
	if err != nil {
		return nil, err
	}
	return mgr, Setup(mgr, Options{
		Params: inject.Params{
			Image: testImage, NativeSidecars: cluster.NativeSidecars, OpenShift: cluster.OpenShift,
			ExcludedNamespaces: []string{ownNamespace, "kube-system"},
			CoordinatorURL:     "https://headgate-coordinator.headgate-system.svc:9444",
		},
		Bundle: func() []byte { return replicas[0].Bundle() },
	})
}

// startReplicas serves the handlers twice, each with certificates of its own; the first one leads. Their
// clock may be put forward by less than the hour that certificates are backdated, and lifetimes are short
// enough for several rotations within it.
func startReplicas(ctx context.Context, handler http.Handler) error {
	for i := range replicas {
		c, err := client.New(managerConfig(), client.Options{Scheme: env.Scheme})
		if err != nil {
			return err
		}
		replicas[i] = certs.New(c, certs.Options{
			Namespace: ownNamespace, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
			Mutating: []string{certs.MutatingConfiguration}, Validating: []string{certs.ValidatingConfiguration},
			CALifetime: 15 * time.Minute, Overlap: 3 * time.Minute, LeafLifetime: 6 * time.Minute,
			Poll: 100 * time.Millisecond, Now: certsNow,
		})
		go func() { _ = replicas[i].Start(ctx) }()
		if i == 0 {
			go func() { _ = replicas[i].Issuer().Start(ctx) }()
		}
		listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{GetCertificate: replicas[i].GetCertificate, NextProtos: []string{"http/1.1"}})
		if err != nil {
			return err
		}
		front.add(listener.Addr().String())
		srv := &http.Server{Handler: calls.wrap(handler), ErrorLog: tlsLog.logger(), ReadHeaderTimeout: time.Minute}
		srv.SetKeepAlivesEnabled(false) // a handshake for each call
		go func() { _ = srv.Serve(listener) }()
		context.AfterFunc(ctx, func() { _ = srv.Close() })
	}
	return nil
}

// patience is for machines that are many times too slow: what is looked for is that it comes, not when.
const patience = 3 * time.Minute

func waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var last error
	for {
		err := errors.Join(replicas[0].Ready(), replicas[1].Ready())
		if err == nil {
			// The API server learns of the bundle a moment after it is written: ask until it calls.
			if err = probe(ctx); err == nil {
				return nil
			}
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the webhook does not become ready: %w; the servers say %q", last, tlsLog.String())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// probe creates a pod without keeping it and looks whether it was injected.
func probe(ctx context.Context) error {
	pod := newPod("default", "probe")
	pod.Labels = map[string]string{"headgate.dev/inject": "enabled"}
	if err := env.Client.Create(ctx, pod, client.DryRunAll); err != nil {
		return err
	}
	if !isInjected(pod) {
		return errors.New("a pod is not injected")
	}
	return nil
}

// install applies what is shipped, with the webhooks' Service replaced by the suite's address.
func install(ctx context.Context) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ownNamespace}}
	if err := env.Client.Create(ctx, ns); err != nil {
		return err
	}
	for _, dir := range []string{"rbac", "admission", "webhook"} {
		files, err := filepath.Glob(filepath.Join(env.Root, "config", dir, "*.yaml"))
		if err != nil {
			return err
		}
		for _, file := range files {
			if err := installFile(ctx, file); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	return nil
}
