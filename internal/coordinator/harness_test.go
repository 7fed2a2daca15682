// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/coordinator"
	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/gateway/report"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/wire"
)

// serviceName is what certificates are for; replicas have other addresses.
const serviceName = "headgate.headgate-system.svc"

// world is a cluster in memory: replicas, pods, and the network between them.
type world struct {
	t    *testing.T
	cert tls.Certificate
	ca   []byte

	mu       sync.Mutex
	pods     map[figures.Pod]map[string]string
	leader   string
	epoch    uint64
	until    time.Time // the leader's lease ends; zero never
	first    bool      // nobody has led before the next leader
	replicas map[string]*replica
	gateways map[figures.Pod]bool // pods that are known to have one
	expires  time.Time            // of tokens
	down     bool                 // the API server is
	expelled figures.Pod
	// unreachable pods reach no replica.
	unreachable map[figures.Pod]bool
	reviewer    coordinator.Reviewer // of tokens, instead of the world
	states      coordinator.States   // of all leaders; nil keeps none
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, pods: map[figures.Pod]map[string]string{}, replicas: map[string]*replica{}, epoch: 1}
	w.cert, w.ca = certificate(t)
	return w
}

func certificate(t *testing.T) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: serviceName}, DNSNames: []string{serviceName},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(1000 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// replica is one manager.
type replica struct {
	*coordinator.Server
	world   *world
	name    string
	http    *http.Server
	pipes   *pipes
	stopRun context.CancelFunc
	stopped chan struct{}
	// dead replicas store nothing any longer.
	dead atomic.Bool
}

// ownStates are the world's as long as the replica lives.
type ownStates struct {
	coordinator.States
	of *replica
}

func (s ownStates) Store(ctx context.Context, state ledger.State) error {
	if s.of.dead.Load() {
		return context.Canceled
	}
	return s.States.Store(ctx, state)
}

// start starts a replica that is dialled as name:8443, on listener or in memory.
func (w *world) start(name string, bounds coordinator.Bounds, listener net.Listener) *replica {
	w.t.Helper()
	r := &replica{world: w, name: name, pipes: newPipes(), stopped: make(chan struct{})}
	reviewer := w.reviewer
	if reviewer == nil {
		reviewer = w
	}
	var states coordinator.States
	if w.states != nil {
		states = ownStates{w.states, r}
	}
	r.Server = coordinator.New(coordinator.Options{
		Reviewer: reviewer, Leadership: r, Pods: w, Bounds: bounds, States: states, Log: said,
	})
	r.http = coordinator.NewHTTPServer(r.Server, func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &w.cert, nil })
	r.http.ErrorLog = log.New(written, "", 0)
	if listener == nil {
		listener = r.pipes
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.stopRun = cancel
	var wg sync.WaitGroup
	wg.Go(func() { _ = r.Run(ctx) })
	wg.Go(func() { _ = r.http.ServeTLS(listener, "", "") })
	go func() { wg.Wait(); close(r.stopped) }()
	w.mu.Lock()
	w.replicas[name+":8443"] = r
	w.mu.Unlock()
	return r
}

// kill ends a replica as a crash does: no goodbye.
func (r *replica) kill() {
	r.dead.Store(true)
	r.retire()
}

// retire ends a replica in order.
func (r *replica) retire() {
	r.measure()
	r.world.mu.Lock()
	delete(r.world.replicas, r.name+":8443")
	r.world.mu.Unlock()
	_ = r.http.Close()
	r.pipes.cut()
	r.stopRun()
	<-r.stopped
}

// Leader implements coordinator.Leadership.
func (r *replica) Leader() (string, bool) {
	r.world.mu.Lock()
	defer r.world.mu.Unlock()
	if r.world.leader == "" {
		return "", false
	}
	return r.world.leader + ":8443", r.world.leader == r.name
}

// Epoch implements coordinator.Leadership.
func (r *replica) Epoch() uint64 {
	r.world.mu.Lock()
	defer r.world.mu.Unlock()
	return r.world.epoch
}

// First implements coordinator.Leadership.
func (r *replica) First() bool {
	r.world.mu.Lock()
	defer r.world.mu.Unlock()
	return r.world.first
}

// Before implements coordinator.Leadership.
func (r *replica) Before() uint64 { return r.Epoch() - 1 }

// Until implements coordinator.Leadership.
func (r *replica) Until() time.Time {
	r.world.mu.Lock()
	defer r.world.mu.Unlock()
	return r.world.until
}

// lead makes a replica the leader, "" none.
func (w *world) lead(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leader = name
	w.epoch++
}

// Labels implements coordinator.Pods.
func (w *world) Labels(pod figures.Pod) (map[string]string, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	labels, ok := w.pods[pod]
	return labels, ok
}

// Gateways implements coordinator.Pods.
func (w *world) Gateways(namespace string) (pods []figures.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for pod := range w.gateways {
		if _, exists := w.pods[pod]; exists && pod.Namespace == namespace {
			pods = append(pods, pod)
		}
	}
	return pods
}

var errDown = errors.New("the API server is down")

// Review implements coordinator.Reviewer: tokens are namespace/name/uid, and a mark.
func (w *world) Review(_ context.Context, token string) (coordinator.Identity, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down {
		return coordinator.Identity{}, errDown
	}
	part := strings.Split(token, "/")
	if len(part) != 4 {
		return coordinator.Identity{}, coordinator.ErrNotVerified
	}
	return coordinator.Identity{Pod: figures.Pod{Namespace: part[0], Name: part[1], UID: part[2]}, Expires: w.expires}, nil
}

// dial implements the network: the Service reaches any one replica, an address its own.
func (w *world) dial(ctx context.Context, _, address string) (net.Conn, error) {
	return w.dialFrom(ctx, figures.Pod{}, address)
}

func (w *world) dialFrom(ctx context.Context, pod figures.Pod, address string) (net.Conn, error) {
	w.mu.Lock()
	r := w.replicas[address]
	if pod == w.expelled && pod.Name != "" || w.unreachable[pod] {
		address, r = "", nil
	}
	if strings.HasPrefix(address, serviceName) {
		for _, any := range w.replicas {
			r = any
			break
		}
	}
	w.mu.Unlock()
	if r == nil {
		return nil, errors.New("connection refused")
	}
	return r.pipes.dial(ctx, pod)
}

// pod makes a pod.
func (w *world) pod(namespace, name string, labels map[string]string) figures.Pod {
	pod := figures.Pod{Namespace: namespace, Name: name, UID: "uid-" + name}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pods[pod] = labels
	return pod
}

// gateway is a sidecar: the real client on a data plane that only notes what it is told.
type gateway struct {
	*report.Client
	world *world
	pod   figures.Pod
	stop  context.CancelFunc
	ended chan struct{}

	mu       sync.Mutex
	routes   []*wire.RouteReport
	rejects  bool
	revision atomic.Int64
	planned  time.Time
	token    string
	dial     func(ctx context.Context, network, address string) (net.Conn, error)
}

// join starts a gateway in a pod; prepare may change it before.
func (w *world) join(pod figures.Pod, prepare ...func(*gateway)) *gateway {
	w.t.Helper()
	g := &gateway{world: w, pod: pod, ended: make(chan struct{}), token: token(pod)}
	g.dial = func(ctx context.Context, _, address string) (net.Conn, error) { return w.dialFrom(ctx, pod, address) }
	for _, p := range prepare {
		p(g)
	}
	file := filepath.Join(w.t.TempDir(), "token")
	must(w.t, os.WriteFile(file, []byte(g.token+"\n"), 0o600))
	client, err := report.New(report.Options{
		URL: "https://" + serviceName + ":8443", TokenFile: file, CA: func() []byte { return w.ca },
		Identity: report.Identity{Namespace: pod.Namespace, PodName: pod.Name, PodUID: pod.UID},
		Version:  "v1.2.3", Contract: "1",
		Source: g, Plans: g, Dial: g.dial, Log: repeated,
	})
	must(w.t, err)
	g.Client = client
	ctx, cancel := context.WithCancel(context.Background())
	g.stop = cancel
	go func() { defer close(g.ended); client.Run(ctx) }()
	return g
}

// leave ends a gateway in good order.
func (g *gateway) leave() { g.stop(); <-g.ended }

// Report implements report.Source.
func (g *gateway) Report(time.Time) []*wire.RouteReport {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.routes
}

var errNotRunnable = errors.New("this plan cannot be run")

// Offer implements report.Plans.
func (g *gateway) Offer(revision int64, _ []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.rejects {
		return errNotRunnable
	}
	g.planned = time.Now()
	g.revision.Store(revision)
	return nil
}

// Revision implements report.Plans.
func (g *gateway) Revision() int64 { return g.revision.Load() }

// testPlan has one policy with a limit of 6,000 tokens a minute, 100 a second.
func testPlan(namespace string, revision int64) plan.Plan {
	return plan.Plan{
		Version: plan.Version, Revision: revision, Namespace: namespace,
		Policies: []plan.Policy{{
			Name: "support", Generation: 1, MaxGateways: 10,
			Routes: []plan.Route{{
				Name: "anthropic", Dialect: "Anthropic", BaseURL: "https://api.anthropic.com",
				Limits: []plan.Limit{
					{Name: "tokens", Budget: plan.InputTokens, Amount: 6000, WindowSeconds: 60, Burst: 6000},
					{Name: "in-flight", Budget: plan.InFlight, Amount: 10, Burst: 10},
				},
				Deadline: plan.Deadline{DefaultMillis: 60_000},
				Throttle: plan.Throttle{HonourCeilingMillis: 30_000, JitterPercent: 25, MaxAttempts: 3},
				Unguided: plan.Backoff{BaseMillis: 500, CapMillis: 30_000},
				Overload: plan.Overload{BaseMillis: 1000, CapMillis: 30_000, MaxAttempts: 4},
				Lanes:    []plan.Lane{{Name: plan.DefaultLane, SharePermille: 1000, MaxDepth: 100, MaxWaitMillis: 50_000}},
			}},
		}},
	}
}

func selector(key, value string) []plan.Term {
	return []plan.Term{{Key: key, Operator: plan.In, Values: []string{value}}}
}

func (r *replica) setPlan(p plan.Plan) {
	r.world.t.Helper()
	encoded, err := plan.Encode(p)
	must(r.world.t, err)
	if _, err := plan.Parse(encoded); err != nil {
		r.world.t.Fatalf("the test's plan is not valid: %v", err)
	}
	r.SetPlan(p.Namespace, p.Revision, encoded)
}

// eventually waits for something that should come soon.
func eventually(t *testing.T, within time.Duration, what string, ok func() bool) time.Duration {
	t.Helper()
	return eventuallyEvery(t, 10*time.Millisecond, within, what, ok)
}

func eventuallyEvery(t *testing.T, every, within time.Duration, what string, ok func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	for !ok() {
		if time.Since(began) > within {
			t.Fatalf("not within %v: %s", within, what)
		}
		time.Sleep(every)
	}
	return time.Since(began)
}

func name(i int) string { return fmt.Sprintf("pod-%04d", i) }
