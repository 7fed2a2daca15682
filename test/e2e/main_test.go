// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

// The installation.
const (
	systemNamespace   = "headgate-system"
	managerDeployment = "headgate-manager"
	managerLabel      = "app.kubernetes.io/component=manager"
	providerNamespace = "llm-provider"
	providerHost      = "provider.llm-provider.svc"
	appImage          = "headgate/demo-app:dev"
	gatewayContainer  = "headgate-gateway"
	planConfigMap     = "headgate-plan"
)

// api reads and writes objects; logs reads containers' logs.
var (
	api  client.Client
	logs kubernetes.Interface
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	if err := connect(); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err, "(run hack/e2e)")
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func connect() error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 100, 200
	if err := v1alpha1.AddToScheme(scheme.Scheme); err != nil {
		return err
	}
	if api, err = client.New(config, client.Options{Scheme: scheme.Scheme}); err != nil {
		return err
	}
	logs, err = kubernetes.NewForConfig(config)
	return err
}

// poll is how often a condition is looked at.
const poll = 200 * time.Millisecond

// slow is how long the last look may take.
const slow = 10 * time.Second

// within waits until check finds nothing wrong, and fails the test with the last thing wrong when it takes longer.
// It returns how long it took.
func within(t *testing.T, limit time.Duration, what string, check func(context.Context) error) time.Duration {
	t.Helper()
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), limit+slow)
	defer cancel()
	for {
		err := check(ctx)
		took := time.Since(began)
		if err == nil {
			return took
		}
		if took > limit {
			t.Fatalf("%s: not within %s: %v", what, limit, err)
		}
		time.Sleep(poll)
	}
}
