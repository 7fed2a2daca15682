// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// The limits are for a busy machine; an idle one needs five seconds.
const (
	startTimeout = 3 * time.Minute
	stopTimeout  = 5 * time.Minute
	// starts is how often a start is tried: of the free ports that are chosen first, another process may take one before
	// they are listened on.
	starts = 3
)

// Options change what Start starts.
type Options struct {
	// WithoutCRDs leaves Headgate's CRD out.
	WithoutCRDs bool
	// Webhooks are installed and pointed at a local server that the test runs on the address, port and
	// certificate folder envtest fills in.
	Webhooks envtest.WebhookInstallOptions
	// APIServerFlags are set on the API server, by flag name without dashes.
	APIServerFlags map[string]string
}

// Env is a running control plane.
type Env struct {
	// Config is an administrator's.
	Config *rest.Config
	// Client reads from the API server, without a cache.
	Client client.Client
	// Scheme knows the Kubernetes types and ours.
	Scheme *runtime.Scheme
	// Kubectl is the path of kubectl, empty where there is none.
	Kubectl string
	// Root is the repository's.
	Root string
	// Webhooks are the options given, with address, port and certificate folder filled in.
	Webhooks envtest.WebhookInstallOptions

	server *envtest.Environment
}

// Start starts a control plane for one test and stops it when the test ends.
func Start(tb testing.TB, opts Options) *Env {
	tb.Helper()
	env, err := New(opts)
	if err != nil {
		tb.Fatalf("start a control plane: %v", err)
	}
	tb.Cleanup(func() {
		if err := env.Stop(); err != nil {
			tb.Errorf("stop the control plane: %v", err)
		}
	})
	return env
}

// Run starts a control plane for all tests of a package and runs them; call it from TestMain:
//
//	var env *controlplane.Env
//
//	func TestMain(m *testing.M) {
//		os.Exit(controlplane.Run(m, controlplane.Options{}, func(e *controlplane.Env) { env = e }))
//	}
func Run(m *testing.M, opts Options, use func(*Env)) (code int) {
	env, err := New(opts)
	if err != nil {
		fmt.Println("start a control plane:", err)
		return 1
	}
	defer func() {
		if err := env.Stop(); err != nil {
			fmt.Println("stop the control plane:", err)
			code = max(code, 1)
		}
	}()
	use(env)
	return m.Run()
}

// New starts a control plane; the caller must Stop it.
func New(opts Options) (*Env, error) {
	root, err := RepoRoot()
	if err != nil {
		return nil, err
	}
	assets, err := AssetsDir()
	if err != nil {
		return nil, err
	}
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	server, config, err := start(func() *envtest.Environment { return newServer(root, assets, scheme, opts) })
	if err != nil {
		return nil, err
	}
	cl, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, errors.Join(err, server.Stop())
	}
	return &Env{
		Config: config, Client: cl, Scheme: scheme, Kubectl: kubectlPath(assets), Root: root,
		Webhooks: server.WebhookInstallOptions, server: server,
	}, nil
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme))
}

// start starts a server that is made anew for each try.
func start(made func() *envtest.Environment) (server *envtest.Environment, config *rest.Config, err error) {
	for range starts {
		server = made()
		if config, err = server.Start(); err == nil {
			return server, config, nil
		}
		err = errors.Join(err, server.Stop())
	}
	return nil, nil, err
}

func newServer(root, assets string, scheme *runtime.Scheme, opts Options) *envtest.Environment {
	server := &envtest.Environment{
		BinaryAssetsDirectory:    assets,
		Scheme:                   scheme,
		WebhookInstallOptions:    opts.Webhooks,
		ErrorIfCRDPathMissing:    true,
		ControlPlaneStartTimeout: startTimeout,
		ControlPlaneStopTimeout:  stopTimeout,
	}
	if !opts.WithoutCRDs {
		server.CRDDirectoryPaths = []string{filepath.Join(root, "config", "crd", "bases")}
	}
	flags := server.ControlPlane.GetAPIServer().Configure()
	for name, value := range opts.APIServerFlags {
		flags.Set(name, value)
	}
	return server
}

// Stop stops everything that New started.
func (e *Env) Stop() error { return e.server.Stop() }

// Namespace creates a namespace of its own for a test, with the given labels and a tenant's keys, and returns its name.
func (e *Env) Namespace(tb testing.TB, labels map[string]string) string {
	tb.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-", Labels: labels}}
	if err := e.Client.Create(tb.Context(), ns); err != nil {
		tb.Fatalf("create a namespace: %v", err)
	}
	if err := e.giveKeys(tb.Context(), ns.Name); err != nil {
		tb.Fatalf("give a namespace its keys: %v", err)
	}
	return ns.Name
}

// User returns a config that acts as the named user, with no rights but those RBAC gives it.
func (e *Env) User(tb testing.TB, name string, groups ...string) *rest.Config {
	tb.Helper()
	user, err := e.server.ControlPlane.AddUser(envtest.User{Name: name, Groups: groups}, rest.CopyConfig(e.Config))
	if err != nil {
		tb.Fatalf("make the user %s: %v", name, err)
	}
	return user.Config()
}

// AccountKey is what the API server signs tokens of ServiceAccounts with.
func (e *Env) AccountKey(tb testing.TB) *ecdsa.PrivateKey {
	tb.Helper()
	content, err := os.ReadFile(filepath.Join(e.server.ControlPlane.GetAPIServer().CertDir, "sa-signer.key"))
	if err != nil {
		tb.Fatal(err)
	}
	block, _ := pem.Decode(content)
	if block == nil {
		tb.Fatal("the signer's key is no PEM")
		return nil
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		tb.Fatal(err)
	}
	signer, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		tb.Fatalf("the signer's key is %T", key)
	}
	return signer
}
