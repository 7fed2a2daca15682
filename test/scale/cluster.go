// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/testing/controlplane"
)

const (
	system      = "headgate-system"
	accountName = "fleet"
	policyName  = "shared"
)

// cluster is an API server, and a manager that leads.
type cluster struct {
	env     *controlplane.Env
	client  client.Client
	manager *manager
	dir     string
	ca      []byte
}

func startCluster(ctx context.Context, s settings) (c *cluster, err error) {
	log.SetLogger(logr.Discard())
	env, err := controlplane.New(controlplane.Options{APIServerFlags: map[string]string{
		// Thousands of pods and tokens are made at once here: it is not the API server that is measured.
		"max-requests-inflight": "2000", "max-mutating-requests-inflight": "1000",
	}})
	if err != nil {
		return nil, fmt.Errorf("start a control plane: %w", err)
	}
	c = &cluster{env: env}
	defer func() {
		if err != nil {
			c.stop()
		}
	}()
	config := rest.CopyConfig(env.Config)
	config.QPS, config.Burst = 2000, 4000
	if c.client, err = client.New(config, client.Options{Scheme: env.Scheme}); err != nil {
		return c, err
	}
	if err := c.install(ctx, s); err != nil {
		return c, err
	}
	return c, c.startManager(ctx, s)
}

// install makes the namespaces. The account and its policies follow with the first gateways.
func (c *cluster) install(ctx context.Context, s settings) error {
	names := []string{system}
	for i := range s.namespaces {
		names = append(names, namespaceName(i))
	}
	for _, name := range names {
		if err := c.client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			return fmt.Errorf("make namespace %s: %w", name, err)
		}
		sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "app"}}
		if err := c.client.Create(ctx, sa); err != nil {
			return fmt.Errorf("make the account of %s: %w", name, err)
		}
	}
	return nil
}

func namespaceName(i int) string { return fmt.Sprintf("team-%d", i) }

func (c *cluster) startManager(ctx context.Context, s settings) (err error) {
	if c.dir, err = os.MkdirTemp("", "headgate-scale-"); err != nil {
		return err
	}
	kubeconfig := filepath.Join(c.dir, "kubeconfig")
	if err := c.writeKubeconfig(kubeconfig); err != nil {
		return err
	}
	if c.manager, err = launch(s.manager, kubeconfig); err != nil {
		return err
	}
	return wait(ctx, time.Minute, "the manager to lead", func() error {
		var secret corev1.Secret
		if err := c.client.Get(ctx, client.ObjectKey{Namespace: system, Name: "headgate-ca"}, &secret); err != nil {
			return err
		}
		c.ca = secret.Data["ca.crt"]
		conn, err := net.DialTimeout("tcp", c.manager.coordinator, time.Second)
		if err != nil {
			return err
		}
		return errors.Join(conn.Close(), c.manager.ready())
	})
}

func (c *cluster) writeKubeconfig(path string) error {
	from := c.env.Config
	return clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: from.Host, CertificateAuthorityData: from.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"u": {ClientCertificateData: from.CertData, ClientKeyData: from.KeyData}},
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u"}},
		CurrentContext: "x",
	}, path)
}

// apply puts an object in place that is given as YAML.
func (c *cluster) apply(ctx context.Context, text string) error {
	var o unstructured.Unstructured
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		return err
	}
	if err := c.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(&o), client.FieldOwner("scale"), client.ForceOwnership); err != nil {
		return fmt.Errorf("apply %s: %w", o.GetName(), err)
	}
	return nil
}

// budget has the account allow so many tokens a minute.
func (c *cluster) budget(ctx context.Context, s settings, tokensPerMinute int64, gateways int) error {
	err := c.apply(ctx, fmt.Sprintf(`
apiVersion: headgate.dev/v1alpha1
kind: ProviderAccount
metadata: {name: %s}
spec:
  dialect: Anthropic
  limits: [{name: input-tokens, budget: InputTokens, amount: %d, per: Minute}]
  allowedNamespaces: {selector: {}}
  maxGateways: %d
`, accountName, tokensPerMinute, gateways))
	for i := range s.namespaces {
		err = errors.Join(err, c.policy(ctx, i, 1_000_000))
	}
	return err
}

// policy gives a namespace's policy a limit of its own.
func (c *cluster) policy(ctx context.Context, i int, requests int64) error {
	return c.apply(ctx, fmt.Sprintf(`
apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: %s, namespace: %s}
spec:
  providers:
  - name: anthropic
    accountRef: {name: %s}
    limits: [{name: requests, budget: Requests, amount: %d, per: Minute}]
`, policyName, namespaceName(i), accountName, requests))
}

func (c *cluster) stop() {
	if c.manager != nil {
		c.manager.stop()
	}
	if c.dir != "" {
		_ = os.RemoveAll(c.dir)
	}
	if err := c.env.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stop the control plane:", err)
	}
}

// wait asks again until there is no error.
func wait(ctx context.Context, within time.Duration, what string, ok func() error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		err := ok()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w (%w)", what, err, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}
