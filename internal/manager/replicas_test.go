// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/sidecar"
	"github.com/headgate-dev/headgate/internal/testing/controlplane"
	"github.com/headgate-dev/headgate/internal/testing/freeport"
	"github.com/headgate-dev/headgate/internal/wire"
)

const (
	system  = "headgate-system"
	account = "system:serviceaccount:headgate-system:headgate-manager"
)

// replica is a manager process.
type replica struct {
	cmd         *exec.Cmd
	log         *syncBuffer
	health      string
	metrics     string
	webhook     string
	coordinator string
	done        chan error
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func buildManager(t *testing.T, env *controlplane.Env) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "manager")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", out, "./cmd/manager")
	cmd.Dir = env.Root
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the manager: %v\n%s", err, said)
	}
	return out
}

// serviceAccountFile is a kubeconfig of the manager's own identity: it has the rights config/rbac gives it,
// and no more.
func serviceAccountFile(t *testing.T, env *controlplane.Env) string {
	t.Helper()
	return kubeconfigFile(t, env.User(t, account, "system:serviceaccounts", "system:serviceaccounts:"+system, "system:authenticated"))
}

func kubeconfigFile(t *testing.T, user *rest.Config) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	file := clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: user.Host, CertificateAuthorityData: user.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"u": {ClientCertificateData: user.CertData, ClientKeyData: user.KeyData}},
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u"}},
		CurrentContext: "x",
	}
	if err := clientcmd.WriteToFile(file, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func startReplica(t *testing.T, binary, kubeconfig string, variables ...string) *replica {
	t.Helper()
	r := &replica{
		log: &syncBuffer{}, webhook: freeport.For(t), health: freeport.For(t), metrics: freeport.For(t), coordinator: freeport.For(t), done: make(chan error, 1),
	}
	_, webhookPort, _ := net.SplitHostPort(r.webhook)
	r.cmd = exec.Command(binary, "--kubeconfig="+kubeconfig, "--namespace="+system, "--gateway-image=headgate/gateway:test",
		"--advertise-address=127.0.0.1", "--coordinator-bind-address="+r.coordinator, "--webhook-port="+webhookPort,
		"--metrics-bind-address="+r.metrics, "--log-level=debug", "--health-probe-bind-address="+r.health)
	r.cmd.Env = append(os.Environ(), variables...)
	all := said.Tee(r.log)
	r.cmd.Stdout, r.cmd.Stderr = all, all
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { r.done <- r.cmd.Wait() }()
	t.Cleanup(func() {
		r.browse()
		_ = r.cmd.Process.Kill()
		if t.Failed() {
			t.Logf("replica %s:\n%s", r.coordinator, r.log)
		}
	})
	return r
}

// ready is "" once the replica says so.
func (r *replica) ready() string {
	resp, err := http.Get("http://" + r.health + "/readyz?verbose")
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Sprintf("%d %s", resp.StatusCode, body)
	}
	return ""
}

// stop ends the replica as the kubelet does.
func (r *replica) stop(t *testing.T) {
	t.Helper()
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-r.done:
		if err != nil {
			t.Errorf("the replica ended with %v", err)
		}
	case <-time.After(patience):
		t.Error("the replica did not end")
	}
}

// patience is for machines that are many times too slow: what is looked for is that it comes, not when.
const patience = 5 * time.Minute

func eventually(t *testing.T, check func() string) {
	t.Helper()
	said := ""
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if said = check(); said == "" {
			return
		}
	}
	t.Fatal(said)
}

func getLease(t *testing.T, env *controlplane.Env) *coordinationv1.Lease {
	t.Helper()
	var l coordinationv1.Lease
	if err := env.Client.Get(t.Context(), client.ObjectKey{Namespace: system, Name: LeaseName}, &l); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return &l
}

func planOf(t *testing.T, env *controlplane.Env, namespace string) *plan.Plan {
	t.Helper()
	var cm corev1.ConfigMap
	key := client.ObjectKey{Namespace: namespace, Name: sidecar.PlanConfigMap}
	if err := env.Client.Get(t.Context(), key, &cm); err != nil {
		return &plan.Plan{}
	}
	p, err := plan.Parse([]byte(cm.Data[sidecar.PlanKey]))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// askLeader connects as a gateway does, and returns the address it is sent to; "" from the leader itself,
// which asks for a token first.
func askLeader(t *testing.T, env *controlplane.Env, address string) (string, error) {
	t.Helper()
	var secret corev1.Secret
	if err := env.Client.Get(t.Context(), client.ObjectKey{Namespace: system, Name: "headgate-ca"}, &secret); err != nil {
		return "", err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(secret.Data["ca.crt"])
	protocols := &http.Protocols{}
	protocols.SetHTTP2(true)
	transport := &http.Transport{
		Protocols:       protocols,
		TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "headgate-coordinator." + system + ".svc"},
	}
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	stream := wire.NewReportsClient(&http.Client{Transport: transport}, "https://"+address).Connect(ctx)
	if err := stream.Send(&wire.Up{Message: &wire.Up_Hello{Hello: &wire.Hello{Namespace: "a"}}}); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	down, err := stream.Receive()
	if err != nil {
		if strings.Contains(err.Error(), "bearer token") {
			return "", nil
		}
		return "", err
	}
	return down.GetLeader().GetAddress(), nil
}

const policyYAML = `
apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: default, namespace: %s}
spec:
  providers:
  - name: anthropic
    limits: [{name: input-tokens, budget: InputTokens, amount: %s, per: Minute}]
`

func applyYAML(t *testing.T, env *controlplane.Env, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "object.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return env.RunKubectl(t, "apply", "-f", path)
}

// Two replicas with the rights that are installed, and no others: one leads, the other sends gateways to
// it, both are ready; when the leader stops, the other takes over at once, with a higher epoch, and goes on
// where it left off.
//
// Fault E10: A slow API server made the leader exit and took the webhook with it, or a change of leader reset what was
// shared.
// Headgate: Every replica serves the webhooks and the gateways, the lease is four times as patient as usual and is
// given back at the end, and the next leader goes on where the last one was.
func TestE10TwoReplicasTakeOver(t *testing.T) {
	env := controlPlane(t)
	said := env.RunKubectl(t, "apply", "--server-side", "--force-conflicts", "-k", filepath.Join(env.Root, "config", "default"))
	if strings.Contains(strings.ToLower(said), "warning") {
		t.Errorf("the installation warns:\n%s", said)
	}
	// Nothing resolves the webhooks' Service here; they have tests of their own.
	env.RunKubectl(t, "delete", "validatingwebhookconfiguration,mutatingwebhookconfiguration", "--all")
	binary, kubeconfig := buildManager(t, env), serviceAccountFile(t, env)
	replicas := []*replica{startReplica(t, binary, kubeconfig), startReplica(t, binary, kubeconfig)}
	for _, r := range replicas {
		eventually(t, r.ready)
		// One metric of each part that has some.
		for _, name := range []string{
			"headgate_certificate_expiry_seconds", "headgate_coordinator_reports_total", "headgate_injections_total",
		} {
			if page, err := scrape(t.Context(), "http://"+r.metrics+"/metrics"); err != nil || !strings.Contains(page, "\n"+name) {
				t.Errorf("%s is not served: %v", name, err)
			}
		}
	}

	var leads, follows *replica
	eventually(t, func() string {
		address := getLease(t, env).Annotations[AnnotationAddress]
		for i, r := range replicas {
			if r.coordinator == address {
				leads, follows = r, replicas[1-i]
				return ""
			}
		}
		return "nobody announced: " + address
	})
	eventually(t, func() string {
		sentTo, err := askLeader(t, env, follows.coordinator)
		itself, err2 := askLeader(t, env, leads.coordinator)
		if err != nil || err2 != nil || sentTo != leads.coordinator || itself != "" {
			return fmt.Sprintf("follower sends to %q (%v), leader to %q (%v)", sentTo, err, itself, err2)
		}
		return ""
	})

	ns := env.Namespace(t, nil)
	applyYAML(t, env, fmt.Sprintf(policyYAML, ns, "400k"))
	eventually(t, func() string {
		if p := planOf(t, env, ns); len(p.Policies) != 1 || p.CoordinatorCA == "" {
			return fmt.Sprintf("plan %+v", p)
		}
		out := env.RunKubectl(t, "get", "hgp", "default", "-n", ns, "--no-headers")
		if columns := strings.Fields(out); len(columns) > 4 && strings.Join(columns[:4], " ") == "default Enforce True 0/0" {
			return ""
		}
		return out
	})
	before, held := planOf(t, env, ns), getLease(t, env)
	epoch := held.Annotations[AnnotationEpoch]

	leads.stop(t)
	if left := getLease(t, env); ptr.Deref(left.Spec.HolderIdentity, "") == *held.Spec.HolderIdentity {
		t.Errorf("the lease was not given back: %+v", left.Spec)
	}
	eventually(t, func() string {
		l := getLease(t, env)
		if l.Annotations[AnnotationAddress] != follows.coordinator || l.Annotations[AnnotationEpoch] <= epoch {
			return fmt.Sprintf("annotations %v", l.Annotations)
		}
		return ""
	})
	if after := planOf(t, env, ns); after.Revision != before.Revision {
		t.Errorf("a change of leader made revision %d of %d", after.Revision, before.Revision)
	}
	applyYAML(t, env, fmt.Sprintf(policyYAML, ns, "300k"))
	eventually(t, func() string {
		p := planOf(t, env, ns)
		if p.Revision <= before.Revision || p.Policies[0].Routes[0].Limits[0].Amount != 300_000 {
			return fmt.Sprintf("plan %+v", p)
		}
		return ""
	})
	for _, r := range replicas {
		if log := r.log.String(); strings.Contains(log, "forbidden") {
			t.Errorf("the installed rights do not suffice:\n%s", log)
		}
	}
}
